#if Emulator
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

@testable import bluectl

struct WorldFileTests {
    private let yaml = """
        devices:
          - name: Thermometer
            address: C0:DE:00:00:18:09
            advertising:
              - data: {localName: Thermometer, services: [1809], txPowerLevel: -4}
                interval: 200ms
            services:
              - uuid: 1809
                characteristics:
                  - uuid: 2A1C
                    properties: [indicate]
                  - uuid: 2A6E
                    properties: [read]
                    value: 0900
        """

    private func failure(_ file: String, _ text: String) -> Failure? {
        do throws(Failure) {
            _ = try WorldFile(path: file).contents(of: text).description()
            return nil
        } catch {
            return error
        }
    }

    @Test func yamlAndJSONDescribeTheSameWorld() throws {
        let fromYAML = try WorldFile(path: "w.yaml").contents(of: yaml).description()
        #expect(fromYAML.devices.map(\.name) == ["Thermometer"])
        #expect(fromYAML.devices.first?.services.first?.characteristics.last?.value == Data([9, 0]))
        let json = String(decoding: try fromYAML.json(), as: UTF8.self)
        #expect(try WorldFile(path: "w.json").contents(of: json).description() == fromYAML)
    }

    /// Returns a device whose fields have YAML values that other rules read as numbers, booleans, times and nothing.
    private func device(_ fields: String) throws -> PeripheralDescription {
        let world = try WorldFile(path: "w.yaml").contents(of: "devices:\n  - {\(fields)}\n").description()
        return try #require(world.devices.first)
    }

    @Test(arguments: ["123", "1e5", "yes", "null", "~", "0x10", "12:30:45", "2026-11-27", "010", ".inf", "1_000"])
    func aNameIsTextWhateverItLooksLike(name: String) throws {
        #expect(try device("name: \(name)").name == name)
        #expect(
            try device("name: A, advertising: [{data: {localName: \(name)}}]").advertising.first?.data.localName == name
        )
    }

    @Test(arguments: ["1809", "0180", "1e10", "00E1"])
    func aUUIDIsTextWhateverItLooksLike(uuid: String) throws {
        let services =
            "services: [{uuid: \(uuid), characteristics: [{uuid: \(uuid), properties: [read], value: \(uuid)}]}]"
        let device = try device("name: A, advertising: [{data: {serviceData: {\(uuid): \(uuid)}}}], \(services)")
        let service = try #require(device.services.first)
        #expect(service.uuid == BluetoothUUID(uuid) && service.characteristics.first?.uuid == service.uuid)
        #expect(service.characteristics.first?.value == Data(hexText: uuid))
        #expect(device.advertising.first?.data.serviceData == [service.uuid: try #require(Data(hexText: uuid))])
        let step = "{at: 1s, device: A, characteristic: \(uuid), service: \(uuid), value: \(uuid)}"
        let fault = "{step: read, what: fail, characteristic: \(uuid)}"
        let text = "devices: [{name: A, \(services), faults: [\(fault)]}]\nscript: [\(step)]\n"
        #expect(failure("w.yaml", text) == nil)
    }

    @Test func anAddressOfDigitsIsNoTime() throws {
        #expect(try device("name: A, address: 10:20:30:40:50:59").address?.description == "10:20:30:40:50:59")
    }

    @Test(arguments: ["000123", "\"000123\"", "'000123'"])
    func aPasskeyIsSixDigitsQuotedOrNot(passkey: String) throws {
        #expect(try device("name: A, pairing: {capability: displayOnly, passkey: \(passkey)}").pairing.passkey == 123)
    }

    @Test(arguments: ["12345", "\"12345\"", "1234567", "0x12AB", "12 345", "1e5"])
    func anotherPasskeyIsAMistake(passkey: String) throws {
        let error = try #require(failure("w.yaml", "devices:\n  - name: A\n    pairing: {passkey: \(passkey)}\n"))
        #expect(error.description.hasPrefix("w.yaml:3:"))
        #expect(error.description.hasSuffix("devices[0].pairing.passkey: a passkey has six digits, as in \"000123\""))
    }

    @Test(arguments: [
        ("-060", "\"-060\" is text, and a number is wanted here: write -60"),
        ("\"-60\"", "\"-60\" is text, and a number is wanted here: write -60"),
        ("00", "\"00\" is text, and a number is wanted here: write 0"),
        ("-1:30", "\"-1:30\" is text, and a number is wanted here"),
        ("-1_0", "\"-1_0\" is text, and a number is wanted here"),
        ("near", "\"near\" is text, and a number is wanted here"),
    ])
    func aNumberThatYAMLReadsInTwoWaysIsAMistakeWithAHint(rssi: String, rule: String) throws {
        let error = try #require(failure("w.yaml", "devices:\n  - name: A\n    rssi: \(rssi)\n"))
        #expect(error.description == "w.yaml:3:5: devices[0].rssi: \(rule)")
    }

    @Test func numbersInObjectsAndRequiredOnesHaveTheHint() throws {
        let parameters = failure("w.yaml", "devices: [{name: A, handler: heart-rate, parameters: {heartRate: 070}}]\n")
        #expect(
            parameters?.description.hasSuffix(
                "parameters.heartRate: \"070\" is text, and a number is wanted here: write 70") == true)
        let channel = failure("w.yaml", "devices: [{name: A, channels: [{psm: \"0128\"}]}]\n")
        #expect(channel?.description.hasSuffix("psm: \"0128\" is text, and a number is wanted here: write 128") == true)
    }

    @Test func numbersAndBooleansAreWhatTheirFieldsWant() throws {
        let text = """
            seed: 18446744073709551615
            hosts: [{name: 1e3, powered: off}]
            devices: [{name: A, rssi: +1, packetLossRate: 5e-1, channels: [{psm: 0x80, echo: yes}]}]
            """
        let world = try WorldFile(path: "w.yaml").contents(of: text).description()
        #expect(world.seed == .max && world.hosts.first?.name == "1e3" && world.hosts.first?.isPowered == false)
        let device = try #require(world.devices.first)
        #expect(device.rssi == 1 && device.packetLossRate == 0.5)
        #expect(device.channels.first?.psm == 128 && device.channels.first?.echo == true)
    }

    @Test func withoutAnExtensionTheFirstCharacterDecides() throws {
        #expect(try WorldFile(path: "/dev/stdin").contents(of: " {\"seed\": 7}").description().seed == 7)
        #expect(try WorldFile(path: "/dev/fd/63").contents(of: "seed: 7\n").description().seed == 7)
        #expect(failure("/dev/stdin", "{\"seed\": }")?.description.hasPrefix("/dev/stdin:1:10: not JSON: ") == true)
    }

    @Test func aBrokenRuleIsReportedWithFileLineColumnPathAndRule() throws {
        let broken = yaml.replacingOccurrences(of: "uuid: 2A6E", with: "uuid: xyz")
        let error = try #require(failure("w.yaml", broken))
        #expect(error.status == .usage)
        #expect(error.description.hasPrefix("w.yaml:12:13: devices[0].services[0].characteristics[1].uuid: "))
    }

    @Test func aBrokenRuleInJSONHasItsPlaceToo() throws {
        let text = """
            {
              "devices": [
                {"name": "A"},
                {
                  "name": "B",
                  "rssi": 99
                }
              ]
            }
            """
        let error = try #require(failure("w.json", text))
        #expect(error.description.hasPrefix("w.json:6:7: devices[1].rssi: "))
    }

    @Test func anUnknownFieldIsAMistake() throws {
        let error = try #require(failure("w.yaml", "devices:\n  - name: A\n    color: red\n"))
        #expect(error.description.hasPrefix("w.yaml:3:5: devices[0].color: "))
    }

    @Test(arguments: [
        "devices: [", "devices:\n\t- name: A", "a: 1\na: 2", "*unknown", "", "a: 1\n---\nb: 2", "? [a]\n: b", "{",
    ])
    func textThatIsNoYAMLIsAUsageFailureOfOneLine(text: String) throws {
        let error = try #require(failure("w.yaml", text))
        #expect(error.status == .usage)
        #expect(error.description.hasPrefix("w.yaml"))
        #expect(!error.description.contains("\n"))
    }

    @Test(arguments: ["{", "[]", "1", "", "{\"devices\": 1}", "nonsense"])
    func textThatIsNoWorldIsAUsageFailureOfOneLine(text: String) throws {
        let error = try #require(failure("w.json", text))
        #expect(error.status == .usage)
        #expect(error.description.hasPrefix("w.json"))
        #expect(!error.description.contains("\n"))
    }

    @Test func aMistakeOfSyntaxHasItsLine() throws {
        let json = try #require(failure("w.json", "{\n  \"devices\": [}\n"))
        #expect(json.description.hasPrefix("w.json:2:"))
        let twice = try #require(failure("w.yaml", "hosts: []\ndevices: []\nhosts: []\n"))
        #expect(twice.description == "w.yaml:1:1: the field \"hosts\" appears twice")
    }

    @Test func aliasesThatMultiplyAreRefused() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...8 {
            let references = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(references)]\n"
        }
        let error = try #require(failure("w.yaml", text))
        #expect(error.description == "w.yaml: the description is too large")
    }

    @Test func aFileThatIsNoTextOrAFolderIsAUsageFailure() async throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent("world-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([0xFF, 0xFE, 0x7B]).write(to: file)
        for (path, reason) in [(file.path, "The text is not UTF-8"), (folder.path, "Is a directory")] {
            let error = #expect(throws: Failure.self) { try WorldFile(path: path).contents() }
            #expect(error?.status == .usage)
            #expect(error?.description == "\(path): the file cannot be read: \(reason)")
        }
    }

    @Test func aMissingFileIsAUsageFailure() {
        do throws(Failure) {
            _ = try WorldFile(path: "/nonexistent/world.json").contents()
            Issue.record("a missing file was read")
        } catch {
            #expect(error.status == .usage)
            let reason = "the file cannot be read: No such file or directory"
            #expect(error.description == "/nonexistent/world.json: \(reason)")
        }
    }
}
#endif
