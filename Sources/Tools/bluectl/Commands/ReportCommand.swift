import ArgumentParser
import BluetoothSupport
import BluetoothTracing
import Foundation
import TraceReports

struct ReportCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make a page, a diagram or a Perfetto file from a trace.",
        discussion: """
            FILE contains the JSON lines that COREBLUETOOTH_TRACE=FILE.jsonl writes. The result is written to \
            --output, or printed. html is a self-contained page; mermaid is a sequence diagram of the last 40 steps; \
            perfetto is a file for ui.perfetto.dev; text is the lines of the trace.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
        case html, mermaid, perfetto, text

        func text(of entries: [TraceEntry], title: String) -> String {
            switch self {
            case .html: TraceTimeline(entries).htmlReport(title: title)
            case .mermaid: TraceTimeline(entries).mermaidDiagram()
            case .perfetto: TraceTimeline(entries).perfettoTrace()
            case .text: entries.map { $0.description + "\n" }.joined()
            }
        }
    }

    @Argument(help: "The file of the trace.")
    var file: String

    @Option(help: "The format of the result.")
    var format = Format.html

    @Option(help: "The file of the result.")
    var output: String?

    @Option(help: "A device, by its name or identifier; lines about others are omitted. May be repeated.")
    var device: [String] = []

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        try global.refuseDeviceOptions()
        if global.timestamps || global.json, output == nil {
            throw ValidationError("the result is a file: name it with --output, or omit --timestamps and --json")
        }
    }

    @MainActor
    func run() async throws {
        let console = global.openConsole()
        let filter = TraceFilter(devices: device)
        let text = format.text(of: try TraceFile.entries(of: file).filter(filter.includes), title: file)
        guard let output else { return console.put(text) }
        try OutputFile(output).write(Array(text.utf8))
        console.show(["file": output, "format": format.rawValue], [output])
    }
}
