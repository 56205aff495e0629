#if os(Linux)
import ChildProcesses
import Foundation
import Testing

/// A capture file that tshark and btmon read.
final class DecodedCapture: Sendable {
    let file: String

    /// - Parameter format: The extension of the file's name.
    init(_ format: String = "pcapng") {
        file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).\(format)").path
    }

    deinit {
        guard FileManager.default.fileExists(atPath: file) else { return }
        #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) }
    }

    private static func find(_ program: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/bin/"].map { $0 + program }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Returns whether a program is installed; always true in continuous integration, which installs all.
    static func has(_ program: String) -> Bool {
        find(program) != nil || ProcessInfo.processInfo.environment["CI"] == "true"
    }

    /// Returns the fields of the packets that a display filter selects, one line per packet, separated by "|".
    func tshark(_ filter: String = "", fields: String...) async throws -> [String] {
        var arguments = ["-r", file, "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]
        if !filter.isEmpty { arguments += ["-Y", filter] }
        for field in fields { arguments += ["-e", field] }
        let path = try #require(Self.find("tshark"), "tshark is not installed")
        let outcome = try await ChildProcess.run(path, arguments)
        #expect(outcome.status == 0)
        return outcome.output.split(separator: "\n").map(String.init)
    }

    /// Returns the "Info" column of Wireshark's list for the packets that a display filter selects.
    func list(_ filter: String = "") async throws -> [String] { try await tshark(filter, fields: "_ws.col.Info") }

    /// Checks that tshark understood every packet.
    func expectNothingMalformed(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        // Wireshark 4.0 expects a short UUID in the declaration of an included service, which a long one does not have:
        // Core Specification, Vol 3, Part G, 4.5.1. It also reads the log lines of btsnoop files with the wrong lengths.
        let bad = try await tshark(
            """
            (_ws.malformed || _ws.unreassembled || _ws.expert.severity >= 0x600000) \
            && !(btatt.opcode == 9 && btatt.length == 6) && !(hci_mon.opcode == 13)
            """, fields: "frame.number", "_ws.col.Info")
        #expect(bad.isEmpty, "\(bad)", sourceLocation: sourceLocation)
    }

    /// Returns the output of btmon.
    func btmon() async throws -> String {
        let path = try #require(Self.find("btmon"), "btmon is not installed")
        let outcome = try await ChildProcess.run(path, ["-r", file])
        #expect(outcome.status == 0)
        return outcome.output
    }
}
#endif
