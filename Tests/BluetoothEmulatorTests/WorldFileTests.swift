import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct WorldFileTests {
    @Test(arguments: [
        (#"{"devices": [{}]}"#, "devices[0]: the field \"name\" is missing"),
        (
            #"{"device": []}"#,
            "device: there is no such field; known are $schema, advertisingCollides, devices, hosts, include, preset, script, seed"
        ),
        (
            #"{"seed": 1, "h\nost\u001b\u202e": []}"#,
            #"h\nost\u{1B}\u{202E}: there is no such field; known are $schema, advertisingCollides, devices, hosts, include, preset, script, seed"#
        ),
        (#"{"devices": [{"name": 3}]}"#, "devices[0].name: text is wanted here"),
        (
            #"{"devices": [{"name": "A"}, {"name": "B", "services": [{"uuid": "18G0"}]}]}"#,
            "devices[1].services[0].uuid: \"18G0\" is not a UUID"
        ),
        (
            #"{"devices": [{"name": "A", "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19", "value": "6"}]}]}]}"#,
            "devices[0].services[0].characteristics[0].value: \"6\": bytes are an even number of hexadecimal digits"
        ),
        (
            #"{"devices": [{"name": "A", "address": "F0:F1"}]}"#,
            "devices[0].address: \"F0:F1\": an address is six groups of two hexadecimal digits with colons"
        ),
        (
            #"{"devices": [{"name": "A", "advertising": [{"interval": "5 ms"}]}]}"#,
            "devices[0].advertising[0].interval: the advertising interval is 20 ms...10.24 s, or 0"
        ),
        (
            #"{"devices": [{"name": "A", "advertising": [{"interval": "100"}]}]}"#,
            "devices[0].advertising[0].interval: \"100\": a time is a number and a unit: us, ms, s, min or h, as in \"100 ms\""
        ),
        (
            #"{"devices": [{"name": "A", "advertising": [{"data": {"localName": "123456789012345678901234567"}}]}]}"#,
            "devices[0].advertising[0].data: 29 bytes do not fit: a packet has room for 28 besides the flags"
        ),
        (
            #"{"devices": [{"name": "A", "services": [{"uuid": "180F", "includes": ["180A"]}]}]}"#,
            "devices[0].services[0].includes[0]: no earlier service has the UUID 180A"
        ),
        (
            #"{"devices": [{"name": "A", "address": "F0:00:00:00:00:01"}, {"name": "B", "address": "F0:00:00:00:00:01"}]}"#,
            "devices[1].address: another device has the address F0:00:00:00:00:01"
        ),
        (#"{"hosts": [{"name": "a"}, {"name": "a"}]}"#, "hosts[1].name: another host has the name \"a\""),
        (
            #"{"devices": [{"name": "A", "phy": "3M"}]}"#,
            "devices[0].phy: \"3M\": the PHYs are 1M, 2M, codedS2, codedS8"
        ),
        (
            #"{"devices": [{"name": "A", "maximumDataLength": 26}]}"#,
            "devices[0].maximumDataLength: the data length is 27...251 bytes"
        ),
        (
            #"{"devices": [{"name": "A", "handler": "toaster"}]}"#,
            "devices[0].handler: \"toaster\": the handlers are \(BuiltInHandler.allCases.map(\.rawValue).joined(separator: ", "))"
        ),
    ])
    func aMistakeNamesPathAndRule(json: String, message: String) {
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }
        #expect(error?.description == message)
    }

    @Test func aFileOfYAMLIsRefusedWithTheCommandThatConvertsIt() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml").path
        try "devices: [{name: Tag}]".write(toFile: file, atomically: false, encoding: .utf8)
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(contentsOfFile: file) }
        let command = "bluectl world convert \(file) > world.json"
        #expect(error?.description == "\(file): only bluectl reads YAML: convert it with \"\(command)\"")
        // JSON is YAML, too.
        try #"{"devices": [{"name": "Tag"}]}"#.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try WorldDescription(contentsOfFile: file).devices.map(\.name) == ["Tag"])
        try FileManager.default.removeItem(atPath: file)
    }

    @Test(arguments: [
        ("{]", "line 1, column 2: not JSON: a field's name in quotation marks is wanted, not \"]\""),
        (
            "{\n  \"devices\": [\n    { \"name\" \"Ä\" }\n  ]\n}",
            "line 3, column 14: not JSON: \":\" is wanted after a field's name, not \"\"\""
        ),
        (
            "{\"devices\": [{\"name\": \"Ä\" \"rssi\": 1}]}",
            "line 1, column 27: not JSON: \",\" or \"}\" is wanted, not \"\"\""
        ),
        ("{\"devices\": [", "line 1, column 14: not JSON: a value is wanted, not the end of the file"),
        ("{\"devices\": [{\"rssi\": 01}]}", "line 1, column 24: not JSON: \",\" or \"}\" is wanted, not \"1\""),
        ("", "line 1, column 1: not JSON: a value is wanted, not the end of the file"),
        ("{\"devices\": []}\n}", "line 2, column 1: not JSON: nothing is wanted after the end of the value, not \"}\""),
        (
            "{\"devices\": [{\"name\": \"A\",}]}",
            "line 1, column 27: not JSON: a field's name in quotation marks is wanted, not \"}\""
        ),
        ("{\"devices\": [{\"name\": \"A\"},]}", "line 1, column 28: not JSON: a value is wanted, not \"]\""),
        ("devices:\n  - name: A\n", "line 1, column 1: not JSON: a value is wanted, not \"d\""),
    ])
    func whatIsNotJSONSaysWhereAndWhy(json: String, message: String) {
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }
        #expect(error?.description == message)
    }

    @Test func aDeepTextIsRefusedAndNotRecursedInto() {
        let error = #expect(throws: DescriptionError.self) {
            try WorldDescription(json: Data(String(repeating: "[", count: 100_000).utf8))
        }
        #expect(error?.description.contains("levels") == true, "\(error?.description ?? "-")")
    }

    @Test func aMistakeInAFileHasItsLineAndColumn() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("world-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        func message(_ json: String) throws -> String? {
            try Data(json.utf8).write(to: file)
            let error = #expect(throws: DescriptionError.self) { try Emulator(worldFile: file.path) }
            return error?.description
        }
        #expect(
            try message("{\"devices\": [\n  {\"name\": \"A\",\n   \"handler\": \"toaster\"}]}")?
                .hasPrefix("\(file.path):3:4: devices[0].handler: \"toaster\"") == true)
        #expect(
            try message("{\"devices\": [\n  {\"name\" = \"A\"}]}")
                == "\(file.path):2:11: not JSON: \":\" is wanted after a field's name, not \"=\"")
    }

    @Test func aFileThatIsNotThereIsNamed() {
        let error = #expect(throws: DescriptionError.self) { try Emulator(worldFile: "/nowhere/world.json") }
        #expect(
            error?.description
                == "/nowhere/world.json: the file cannot be read: No such file or directory")
    }

    @Test func aFileMakesAWorld() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("world-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let json = """
            {"hosts": [{"name": "second", "powered": false}],
             "devices": [{"name": "Timer", "advertising": [{"data": {"localName": "Timer"}}], "services": [
               {"uuid": "180F", "characteristics": [
                 {"uuid": "2A19", "properties": ["read", "notify"], "value": "64",
                  "timer": {"interval": "2 s", "values": ["01", "02"]}}]}]}]}
            """
        try Data(json.utf8).write(to: file)
        let emulator = try Emulator(worldFile: file.path, configuration: .instant, time: .virtual)
        #expect(emulator.hosts.map(\.name) == ["default", "second"])
        #expect(emulator.hosts.map(\.state) == [.poweredOn, .poweredOff])
        let fixture = Fixture(emulator: emulator)
        try await fixture.powerOn()
        let link = try await fixture.connect(try #require(emulator.devices.first))
        let level = try await fixture.attributes(link).characteristic("2A19")
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(level, true)))
        let count = fixture.events.count
        try await emulator.advance(by: .seconds(7))
        #expect(
            fixture.events(from: count)
                == [1, 2, 1].map {
                    .valueNotified(link: link, attribute: level, value: Data([$0]))
                })
    }
}
