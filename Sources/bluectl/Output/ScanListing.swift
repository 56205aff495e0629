import Foundation

/// Shows a scan as it goes: a live table on a terminal, else a line or a JSON object for each report.
@MainActor
final class ScanListing {
    /// The time between two drawings of the table.
    private static let pause = Duration.milliseconds(200)

    private let console: Console
    private let backend: String
    /// Whether a report is shown even if it says nothing new.
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

    /// Shows a report.
    func show(_ device: DeviceRecord) {
        let before = table.devices[device.identifier]
        table.update(device)
        guard let known = table.devices[device.identifier], showsDuplicates || known != before else { return }
        if console.isJSON {
            console.print(json: ScanRecord(known, backend: backend))
        } else if console.isLive {
            drawSoon()
        } else {
            console.print(Self.line(known))
        }
    }

    /// Draws for the last time.
    func finish() {
        if console.isLive { draw() }
    }

    /// A report as one line of fields, separated by tabs.
    ///
    /// Identifier, address, signal strength, name and services, `-` for what is unknown; then, where there is something,
    /// what else is advertised.
    static func line(_ device: DeviceRecord) -> String {
        let fields = [
            device.identifier.uuidString, device.address, device.rssi.map(String.init),
            device.displayName.map(PrintableText.of), ScanTable.services(device),
        ]
        let details = AdvertisementText.details(of: device)
        let line = fields.map { $0.flatMap { $0.isEmpty ? nil : $0 } ?? "-" } + (details.isEmpty ? [] : [details])
        return line.joined(separator: "\t")
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
