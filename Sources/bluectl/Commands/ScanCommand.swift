import ArgumentParser
import AsyncBluetooth
import BluetoothBackend
import CoreBluetoothPackage
import Foundation

struct ScanCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the devices that advertise in range.",
        discussion: """
            At a terminal, prints a live table; elsewhere, one line per report with identifier, address, RSSI, name \
            and services, separated by tabs, followed by further data of the advertisement: whether it is not \
            connectable, the transmit power, and its data. Broadcasts of BTHome, Eddystone, iBeacon and Ruuvi \
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

    @Flag(help: "Report every advertisement, not only those with new information.")
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
        defer { listing.finish() }
        let reports = role.central.scan(for: service.map { CBUUID($0) }, allowDuplicates: duplicates)
        let limit = duration?.duration ?? (first ? role.limit : nil)
        do {
            try await role.step("looking for the device", within: limit) {
                for try await report in reports {
                    role.onHeard?(report.peripheral)
                    let device = DeviceRecord(report)
                    guard isWanted(device) else { continue }
                    listing.show(device)
                    if first { return }
                }
            }
        } catch let failure as Failure where failure.status == .timedOut {
            if first { throw Failure(.timedOut, "no device matches: \(failure.description)") }
        }
    }

    func isWanted(_ device: DeviceRecord) -> Bool {
        if let rssi, device.rssi.map({ $0 < rssi }) ?? true { return false }
        guard let name else { return true }
        return device.names.contains { $0.lowercased().contains(name.lowercased()) }
    }
}

/// Shows a running scan: a live table on a terminal, otherwise a line or a JSON object for each report.
@MainActor
final class ScanListing {
    /// The time between two drawings of the table.
    private static let pause = Duration.milliseconds(200)

    private let console: Console
    private let backend: String
    /// Whether a report without new information is shown.
    private let showsDuplicates: Bool
    private var table = ScanTable()
    private var drawnLines = 0
    private var isDrawingDue = false

    init(_ console: Console, backend: String, showsDuplicates: Bool) {
        self.console = console
        self.backend = backend
        self.showsDuplicates = showsDuplicates
        if console.isLive { draw() }
    }

    func show(_ device: DeviceRecord) {
        let before = table.devices[device.identifier]
        table.update(device)
        guard let known = table.devices[device.identifier], showsDuplicates || known != before else { return }
        if console.isLive { drawSoon() } else { console.show(known.fields(backend: backend), [known.line]) }
    }

    /// Draws for the last time.
    func finish() {
        if console.isLive { draw() }
    }

    private func drawSoon() {
        guard !isDrawingDue else { return }
        isDrawingDue = true
        Task {
            do {
                try await Task.sleep(for: Self.pause)
            } catch {
                return
            }
            isDrawingDue = false
            draw()
        }
    }

    private func draw() {
        let size = StandardStream.output.size ?? (columns: 80, rows: 24)
        let lines = table.lines(columns: size.columns, rows: size.rows, palette: console.palette)
        // Up to the first line, each line anew, and away with what is below.
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        console.put(up + lines.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
        drawnLines = lines.count
    }
}
