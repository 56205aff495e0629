import BluetoothSupport
import Foundation
import LogCapture
import Testing

@testable import BluetoothTracing

/// Tests that a trace file gets each line immediately.
struct TraceFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID())")

    private func withFolder(_ body: (URL) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try body(folder)
        try FileManager.default.removeItem(at: folder)
    }

    private let entry = TraceEntry(time: .seconds(1), category: .note, text: "lost")

    @Test func linesAreTextOrOneObjectEach() throws {
        try withFolder { folder in
            let (text, json) = (folder.appendingPathComponent("t.txt"), folder.appendingPathComponent("t.jsonl"))
            try TraceFile(text.path).write([entry, entry])
            #expect(try String(contentsOf: text, encoding: .utf8) == "1.000000000 ! lost\n1.000000000 ! lost\n")
            try TraceFile(json.path).write([entry])
            let line = try String(contentsOf: json, encoding: .utf8)
            #expect(try JSONDecoder().decode(TraceEntry.self, from: Data(line.utf8)) == entry)
            #expect(line.hasSuffix("}\n"))
            let attributes = try FileManager.default.attributesOfItem(atPath: text.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(arguments: PrintableTests.unprintable)
    func noLineOfAFileHasACharacterThatIsNotPrintable(scalar: Unicode.Scalar) throws {
        try withFolder { folder in
            let (text, json) = (folder.appendingPathComponent("t.txt"), folder.appendingPathComponent("t.jsonl"))
            let name = "a\(scalar)b"
            var line = TraceLine("discovered", showsValues: true)
            line.add("name", quoted: name)
            let built = TraceEntry(
                line, at: .zero, direction: .event, category: .callback, host: name, source: "central 1")
            let read = TraceEntry(time: .zero, category: .note, host: name, source: name, device: name, text: name)
            for file in [text, json] {
                try TraceFile(file.path).write([built, read])
                let lines = try String(contentsOf: file, encoding: .utf8).unicodeScalars.split(separator: "\n")
                #expect(lines.count == 2)
                #expect(lines.joined().allSatisfy { $0.isPrintable })
            }
            #expect(try TraceFile.entries(of: json.path) == [built, read])
            #expect(line.text.unicodeScalars.allSatisfy { $0.isPrintable })
        }
    }

    @Test func aTraceReplacesAFileWithItsModeAndFollowsNoLink() throws {
        try withFolder { folder in
            let (file, link) = (folder.appendingPathComponent("t.txt"), folder.appendingPathComponent("l.txt"))
            try Data("old".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            try TraceFile(file.path).write([entry])
            #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(throws: TraceFileError.self) { try TraceFile(link.path) }
        }
    }

    @Test func aFileIsReadBackAndACutOffLastLineIsLeftOut() throws {
        LogCapture.start()
        try withFolder { folder in
            let file = folder.appendingPathComponent("t.jsonl")
            try TraceFile(file.path).write([entry, entry])
            #expect(try TraceFile.entries(of: file.path) == [entry, entry])
            let text = try String(contentsOf: file, encoding: .utf8)
            try String(text.dropLast(20)).write(to: file, atomically: false, encoding: .utf8)
            #expect(try TraceFile.entries(of: file.path) == [entry])
            #expect(LogCapture.lines(containing: "\(file.path): line 2 is cut off").count == 1)
        }
    }

    @Test(arguments: [
        ("{}\n", "line 1: time: missing"), ("nothing\n", "line 1: "), ("\n[1]\n", "line 2: "),
        (
            #"{"time":1,"direction":"?","category":"note","source":"","name":"","text":""}"# + "\n",
            "line 1: direction: "
        ),
    ])
    func aMalformedLineIsAnErrorWithItsNumber(_ text: String, _ reason: String) throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("t.jsonl")
            try text.write(to: file, atomically: false, encoding: .utf8)
            let error = #expect(throws: TraceFileError.self) { try TraceFile.entries(of: file.path) }
            #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
        }
        #expect(throws: TraceFileError(file: "/nowhere", reason: "the file cannot be read: No such file or directory"))
        {
            try TraceFile.entries(of: "/nowhere")
        }
    }

    @Test func aFolderThatIsNotThereIsAnErrorWithItsReason() throws {
        #expect(throws: TraceFileError(file: "/nowhere/trace", reason: "No such file or directory")) {
            try TraceFile("/nowhere/trace")
        }
    }

    @Test func aFullDiskEndsTheTraceWithOneLineOfTheLog() throws {
        LogCapture.start()
        let file = try TraceFile("/dev/full")
        file.write([entry])
        file.write([entry])
        let lines = LogCapture.lines(containing: "the trace has ended")
        #expect(lines == ["CoreBluetooth error the trace has ended: /dev/full: No space left on device"])
    }

    @Test func theEnvironmentSelectsFileFilterAndValues() throws {
        let settings = try TraceSettings([
            "COREBLUETOOTH_TRACE_DEVICES": "Polar H10, Tag*,", "COREBLUETOOTH_TRACE_KINDS": "data, note",
            "COREBLUETOOTH_TRACE_VALUES": "hidden",
        ])
        #expect(settings.filter == TraceFilter(categories: [.data, .note], devices: ["Polar H10", "Tag*"]))
        #expect(!settings.showsValues)
        let plain = try TraceSettings([:])
        #expect(plain.filter == TraceFilter() && plain.showsValues)
        #expect(try EnvironmentTrace.make(["COREBLUETOOTH_TRACE": ""]) == nil)
    }

    @Test(arguments: [
        ("COREBLUETOOTH_TRACE_KINDS", "data,gossip", "\"gossip\" is none of command, data, callback"),
        ("COREBLUETOOTH_TRACE_VALUES", "no", "\"no\" is none of shown, hidden"),
    ])
    func anUnknownSettingIsAnErrorThatListsTheKnown(_ name: String, _ value: String, _ message: String) {
        let error = #expect(throws: SettingsError.self) { try TraceSettings([name: value]) }
        #expect(error?.description.contains(message) == true && error?.description.hasPrefix(name) == true)
    }
}
