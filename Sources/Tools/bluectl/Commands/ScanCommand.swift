import ArgumentParser
import AsyncBluetooth
import BluetoothBackend
import CoreBluetoothClasses
import Foundation

struct ScanCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the devices that advertise in range.",
        discussion: """
            At a terminal, prints a live table; elsewhere, one line per device with identifier, address, RSSI, name \
            and services, separated by tabs, followed by further data of the advertisement: whether it is not \
            connectable, the transmit power, and its data. The line contains the data of the first second; with \
            --duplicates, each report is a line. Broadcasts of BTHome, Eddystone, iBeacon and Ruuvi \
            devices are decoded. The scan runs until Ctrl-C, for --duration, or with --first until a device matches.
            """,
        aliases: ["ls"])

    // With --first, an interruption means that no device was found.
    var endsByInterruption: Bool { !first }

    @Option(help: ArgumentHelp("Report only devices that advertise this service; may be repeated.", valueName: "UUID"))
    var service: [BluetoothUUID] = []

    @Option(help: ArgumentHelp("Report only devices whose name contains this text, ignoring case.", valueName: "N"))
    var name: String?

    @Option(help: ArgumentHelp("Report only devices with at least this signal strength, -127...20.", valueName: "DBM"))
    var rssi: Int?

    @Option(help: ArgumentHelp("End after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(help: "Report every advertisement, not each device once.")
    var duplicates = false

    @Flag(
        help: """
            End at the first device that matches; the exit status is 3 if none is found within --duration, or else \
            --timeout.
            """)
    var first = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let rssi, !(-127...20).contains(rssi) { throw ValidationError("--rssi must be in -127...20, not \(rssi)") }
    }

    func perform(in role: CentralRole) async throws {
        let listing = ScanListing(role.console, backend: role.backendName, showsDuplicates: duplicates)
        let reports = role.central.scan(for: service.map { CBUUID($0) }, allowDuplicates: duplicates)
        let limit = duration?.duration ?? (first ? role.limit : nil)
        defer { listing.finish() }
        do {
            try await role.step("looking for the device", within: limit) {
                for try await report in reports {
                    role.onHeard?(report.peripheral)
                    let device = DeviceRecord(report)
                    guard listing.add(device, where: isWanted) else { continue }
                    if first { return }
                }
            }
        } catch let failure as Failure where failure.status == .timedOut {
            guard first else { return }
            let query = name.flatMap { DeviceQuery($0) }
            throw Failure(.timedOut, "no device matches: \(failure.description)" + listing.heard.text(besides: query))
        }
    }

    func isWanted(_ device: DeviceRecord) -> Bool {
        if let rssi, device.rssi.map({ $0 < rssi }) ?? true { return false }
        guard let name else { return true }
        return device.names.contains { $0.lowercased().contains(name.lowercased()) }
    }
}

/// The output of a running scan: a live table on a terminal; otherwise a line or a JSON object for each device, or for
/// each report.
@MainActor
final class ScanListing {
    /// The time between two drawings of the table.
    private static let pause = Duration.milliseconds(200)
    /// The time after which a device's report is complete: its name may be in another packet than its services.
    private static let completion = Duration.seconds(1)

    private let console: Console
    private let backend: String
    /// Whether every report is shown.
    private let showsDuplicates: Bool
    /// All devices that were heard.
    private(set) var heard = ScanTable()
    /// The wanted devices among them.
    private var table = ScanTable()
    private var drawnLines = 0
    /// Whether the table was drawn less than a pause ago.
    private var isPausing = false
    /// Whether the table has changed since it was drawn.
    private var isChanged = false
    /// The devices that are shown once they are complete, in the order in which they were heard.
    private var incomplete: [UUID] = []

    init(_ console: Console, backend: String, showsDuplicates: Bool) {
        self.console = console
        self.backend = backend
        self.showsDuplicates = showsDuplicates
        if console.isLive { draw() }
    }

    /// Adds a report.
    ///
    /// - Parameter isWanted: Returns whether a device, with everything known about it, is shown.
    /// - Returns: Whether the device is shown.
    func add(_ device: DeviceRecord, where isWanted: (DeviceRecord) -> Bool) -> Bool {
        heard.update(device)
        guard let known = heard.devices[device.identifier], isWanted(known) else { return false }
        let isNew = table.devices[device.identifier] == nil
        table.update(known)
        if console.isLive {
            drawChange()
        } else if showsDuplicates {
            show(known)
        } else if isNew {
            showOnceComplete(known.identifier)
        }
        return true
    }

    /// Shows the remaining devices, and draws for the last time.
    func finish() {
        for identifier in incomplete { show(identifier) }
        incomplete = []
        if console.isLive { draw(isOver: true) }
    }

    private func showOnceComplete(_ identifier: UUID) {
        incomplete.append(identifier)
        Task {
            do {
                try await Task.sleep(for: Self.completion)
            } catch {
                return
            }
            guard let index = incomplete.firstIndex(of: identifier) else { return }
            incomplete.remove(at: index)
            show(identifier)
        }
    }

    private func show(_ identifier: UUID) {
        if let device = table.devices[identifier] { show(device) }
    }

    private func show(_ device: DeviceRecord) { console.show(device.fields(backend: backend), [device.line]) }

    /// Draws the table, so that the first device is seen at once; after the pause if it was drawn just before.
    private func drawChange() {
        isChanged = true
        guard !isPausing else { return }
        draw()
        isPausing = true
        Task {
            do {
                try await Task.sleep(for: Self.pause)
            } catch {
                return
            }
            isPausing = false
            if isChanged { drawChange() }
        }
    }

    private func draw(isOver: Bool = false) {
        isChanged = false
        let size = StandardStream.output.size ?? (columns: 80, rows: 24)
        let lines = table.lines(columns: size.columns, rows: size.rows, isOver: isOver, palette: console.palette)
        // Moves up to the first line, redraws each line, and erases everything below.
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        console.put(up + lines.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
        drawnLines = lines.count
    }
}
