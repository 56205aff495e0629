import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// World files that include other files.
@Suite struct WorldFilesTests {
    /// Calls `body` with a folder of files, and removes the folder afterwards.
    private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        for (name, text) in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try body(folder.path)
    }

    /// Returns the first error in `w/world.json`, without the folder.
    private func error(_ files: [String: String]) throws -> String? {
        var found: String?
        try withFolder(files) { folder in
            do throws(DescriptionError) {
                _ = try WorldDescription(contentsOfFile: folder + "/w/world.json")
            } catch {
                found = error.description.replacingOccurrences(of: folder + "/", with: "")
            }
        }
        return found
    }

    @Test func theListsOfIncludedFilesComeFirstAndEachFileOnce() throws {
        let files = [
            "world.json": #"{"seed": 7, "include": ["a.json", "sub/b.json"], "devices": [{"name": "Own"}]}"#,
            "a.json": #"{"seed": 7, "hosts": [{"name": "h"}], "devices": [{"name": "A"}], "include": ["sub/b.json"]}"#,
            "sub/b.json": #"""
            {"devices": [{"name": "B", "count": 2}], "script": [{"at": "1 s", "device": "A", "rssi": -50}]}
            """#,
        ]
        try withFolder(files) { folder in
            let world = try WorldDescription(contentsOfFile: folder + "/world.json")
            #expect(world.devices.map(\.name) == ["B", "B", "A", "Own"])
            #expect(world.hosts.map(\.name) == ["h"] && world.script.count == 1 && world.seed == 7)
        }
    }

    @Test(arguments: [
        (#"["../x.json"]"#, "w/world.json:1:14: include[0]: an included file is in the folder of the first file or"),
        (#"["/etc/passwd"]"#, "w/world.json:1:14: include[0]: the path of an included file is relative to the file"),
        (#"["world.json"]"#, "w/world.json:1:14: include[0]: the file includes itself"),
        (#"["sub"]"#, "w/world.json:1:14: include[0]: an included file is a regular file"),
        (#""x.json""#, "w/world.json:1:2: include: a list is wanted here"),
        ("[3]", "w/world.json:1:14: include[0]: text is wanted here"),
        (#"["sub/rssi.json"]"#, "w/sub/rssi.json:2:15: devices[0].rssi: the signal strength is -127...20 dBm"),
        (#"["sub/seed.json"]"#, "w/sub/seed.json:1:2: seed: the first file decides the seed: an included file"),
        (#"["sub/broken.json"]"#, "w/sub/broken.json:1:13: not JSON: a value is wanted, not \"}\""),
        (#"["sub/comma.json"]"#, "w/sub/comma.json:1:13: not JSON: a value is wanted, not \"]\""),
        (#"["x.json"],"#, "w/world.json:1:24: not JSON: a field's name in quotation marks is wanted, not \"}\""),
        (#"["sub/cycle.json"]"#, "w/sub/cycle.json:1:14: include[0]: the file includes itself"),
        (#"["sub/list.json"]"#, "w/sub/list.json: an object is wanted"),
    ])
    func aMistakeNamesItsFile(include: String, message: String) throws {
        let found = try error([
            "x.json": "{}", "w/world.json": "{\"include\": \(include)}",
            "w/sub/rssi.json": "{\"devices\": [\n{\"name\": \"A\", \"rssi\": 99}]}", "w/sub/seed.json": "{\"seed\": 2}",
            "w/sub/broken.json": "{\"devices\": }", "w/sub/comma.json": "{\"seed\": [1,]}",
            "w/sub/cycle.json": "{\"include\": [\"../world.json\"]}",
            "w/sub/list.json": "[]",
        ])
        #expect(found?.hasPrefix(message) == true, "\(found ?? "no error")")
    }

    @Test func aLinkOutOfTheFolderIsRefused() throws {
        try withFolder(["x.json": "{}", "w/world.json": #"{"include": ["link.json"]}"#]) { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/w/link.json", withDestinationPath: folder + "/x.json")
            let error = #expect(throws: DescriptionError.self) {
                try WorldDescription(contentsOfFile: folder + "/w/world.json")
            }
            #expect(error?.rule == "an included file is in the folder of the first file or below")
        }
    }

    @Test func levelsFilesAndBytesAreBounded() throws {
        var chain = ["w/world.json": #"{"include": ["1.json"]}"#]
        for level in 1...8 { chain["w/\(level).json"] = "{\"include\": [\"\(level + 1).json\"]}" }
        chain["w/9.json"] = "{}"
        let deep = try error(chain)
        #expect(deep?.hasSuffix("w/8.json:1:14: include[0]: files include files on 8 levels or fewer") == true)
        chain["w/8.json"] = "{}"
        #expect(try error(chain) == nil)
        let names = (1...65).map { "\"\($0).json\"" }.joined(separator: ", ")
        var many = Dictionary(uniqueKeysWithValues: (1...65).map { ("w/\($0).json", "{}") })
        many["w/world.json"] = "{\"include\": [\(names)]}"
        #expect(try error(many)?.hasSuffix("include[64]: 64 files are included or fewer") == true)
        let large = String(repeating: " ", count: WorldFiles.maximumBytes)
        let found = try error(["w/world.json": #"{"include": ["1.json"]}"#, "w/1.json": large])
        #expect(found?.hasSuffix("all files together have 16777216 bytes or fewer") == true)
    }

    @Test func yamlIsRefusedWithTheCommandForTheFirstFile() throws {
        let found = try error(["w/world.json": #"{"include": ["a.yaml"]}"#, "w/a.yaml": "devices: []"])
        #expect(found?.hasPrefix("w/a.yaml: only bluectl reads YAML: convert it with \"bluectl world convert ") == true)
        #expect(found?.hasSuffix("w/world.json > world.json\"") == true)
    }

    @Test func aTextWithoutAFileIncludesNone() {
        let error = #expect(throws: DescriptionError.self) {
            try WorldDescription(json: Data(#"{"include": ["a.json"]}"#.utf8))
        }
        #expect(error?.path == "include" && error?.rule.hasPrefix("only a file can include files") == true)
    }

    @Test func valuesStayAsTheyAre() throws {
        let json = Data(#"{"a":[null,true,18446744073709551615,-1,0.1,"x",{}],"b":9007199254740993}"#.utf8)
        let value = try JSONDecoder().decode(JSONValue.self, from: json)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try encoder.encode(value) == json)
    }
}
