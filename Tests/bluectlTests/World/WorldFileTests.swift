#if Emulator
import BluetoothEmulator
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
        let error = try #require(failure("w.yaml", "devices:\n  - name: A\n    colour: red\n"))
        #expect(error.description.hasPrefix("w.yaml:3:5: devices[0].colour: "))
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
            _ = try WorldFile(path: "/nonexistent/world.json").emulator()
            Issue.record("a missing file was read")
        } catch {
            #expect(error.status == .usage)
            let reason = "the file cannot be read: No such file or directory"
            #expect(error.description == "/nonexistent/world.json: \(reason)")
        }
    }
}
#endif
