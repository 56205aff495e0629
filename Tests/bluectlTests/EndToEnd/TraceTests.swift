#if Emulator && os(Linux)
import BluetoothSupport
import BluetoothTracing
import ChildProcesses
import Foundation
import Testing

/// The variable `COREBLUETOOTH_TRACE` and its companions, and the option `--verbose`.
@Suite struct TraceTests {
    private let folder = FileManager.default.temporaryDirectory

    /// Returns the lines of the file, which is removed.
    private func lines(_ file: URL) throws -> [String] {
        let text = try String(contentsOf: file, encoding: .utf8)
        try FileManager.default.removeItem(at: file)
        return text.split(separator: "\n").map(String.init)
    }

    @Test func aVariableTracesAnyProgram() async throws {
        let file = folder.appendingPathComponent("\(UUID()).txt")
        let outcome = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_TRACE": file.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try lines(file)
        #expect(lines.contains { $0.contains(" < central 1: connect peer=") })
        #expect(
            lines.contains {
                $0.contains(" > central 1: valueNotified") && $0.contains("/2A37@0x") && $0.contains(" bpm, ")
            }, "\(lines.suffix(5))")
    }

    @Test func aFileOfJSONLinesHasTheEntriesThatItsFilterKeeps() async throws {
        let file = folder.appendingPathComponent("\(UUID()).jsonl")
        let outcome = try await Tool.run(
            ["--backend", "emulator", "read", "nRF Blinky", "00001524-1212-EFDE-1523-785FEABCD123"],
            environment: [
                "COREBLUETOOTH_TRACE": file.path, "COREBLUETOOTH_TRACE_DEVICES": "nRF*",
                "COREBLUETOOTH_TRACE_KINDS": "command,data", "COREBLUETOOTH_TRACE_VALUES": "hidden",
            ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let entries = try lines(file).map { try JSONDecoder().decode(TraceEntry.self, from: Data($0.utf8)) }
        let read = try #require(entries.last { $0.name == "valueRead" })
        #expect(read.device == "nRF Blinky" && read.value == nil && read.text.contains("value=<1 bytes>"))
        #expect(Set(entries.compactMap(\.device)) == ["nRF Blinky"])
        #expect(Set(entries.map(\.category)) == [.command, .data])
    }

    @Test func aTraceBecomesAPageADiagramAndAPerfettoFile() async throws {
        let file = folder.appendingPathComponent("\(UUID()).jsonl")
        _ = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_TRACE": file.path])
        let page = try await Tool.run(["report", file.path])
        #expect(page.status == 0 && page.output.hasPrefix("<!doctype html>") && page.errors.isEmpty)
        let diagram = try await Tool.run(["report", file.path, "--format", "mermaid", "--device", "Heart*"])
        #expect(diagram.output.contains("P0->>P1: read 180D/2A38\n"), "\(diagram.output)")
        #expect(!diagram.output.contains("nRF Blinky"))
        let perfetto = folder.appendingPathComponent("\(UUID()).json")
        let written = try await Tool.run(
            ["report", file.path, "--format", "perfetto", "--output", perfetto.path, "--json"])
        #expect(written.output == "{\"file\":\"\(perfetto.path)\",\"format\":\"perfetto\"}\n", "\(written.output)")
        #expect(try lines(perfetto).first == "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")
        let entries = try lines(file)
        #expect(entries.count > 20)
        let missing = try await Tool.run(["report", file.path])
        #expect(missing.status == 1 && missing.errors.contains("\(file.path): the file cannot be read: No such file"))
        let usage = try await Tool.run(["report", file.path, "--json"])
        #expect(usage.status == 2 && usage.errors.contains("--output"))
    }

    @Test func aReportOfATraceThatAStrangerMadeHasPrintableLines() async throws {
        let file = folder.appendingPathComponent("\(UUID()).jsonl")
        let line =
            #"{"time":1,"direction":">","category":"callback","source":"c\u001b[2J","name":"discovered","#
            + #""device":"x\u009by","text":"discovered name=\"a\nb\u202e\"\u001b]0;t\u0007"}"#
        try (line + "\n").write(to: file, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let text = try await Tool.run(["report", file.path, "--format", "text"])
        #expect(
            text.output == #"1.000000000 > c\u{1B}[2J: discovered name="a\nb\u{202E}"\u{1B}]0;t\u{07}"# + "\n",
            "\(text.output.debugDescription)")
        for format in ["html", "mermaid", "perfetto"] {
            let report = try await Tool.run(["report", file.path, "--format", format])
            #expect(report.output.unicodeScalars.allSatisfy { $0.isPrintable || $0 == "\n" }, "\(format)")
        }
    }

    @Test func aHyphenIsStandardErrorAndVerboseHasTheSameText() async throws {
        let traced = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_TRACE": "-"])
        let verbose = try await Tool.run(["demo", "--verbose"])
        for outcome in [traced, verbose] {
            #expect(outcome.status == 0)
            #expect(
                outcome.errors.contains("central 1: notifyingChanged link=1:\"Heart Rate Monitor\" operation="),
                "\(outcome.errors)")
        }
    }

    @Test func whatCannotBeTracedIsALineOfTheLog() async throws {
        let unwritable = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_TRACE": "/nowhere/trace"])
        #expect(unwritable.status == 0 && unwritable.errors.contains("no trace: /nowhere/trace: No such file"))
        let unknown = try await Tool.run(
            ["demo"], environment: ["COREBLUETOOTH_TRACE": "-", "COREBLUETOOTH_TRACE_KINDS": "gossip"])
        #expect(unknown.status == 0)
        #expect(unknown.errors.contains("no trace: COREBLUETOOTH_TRACE_KINDS: \"gossip\" is none of command, data"))
    }
}
#endif
