import Foundation
import Testing

@testable import BluetoothEmulator

/// All mistakes of a world file at once.
@Suite struct MistakeCollectorTests {
    private static let file = "world.json"

    private func mistakes(_ json: String) throws -> [DescriptionError] {
        try WorldFiles(Self.file, text: Data(json.utf8), format: .json(root: Self.file)).allMistakes()
    }

    private func paths(_ json: String) throws -> [String] { try mistakes(json).map(\.path) }

    @Test(arguments: [WorldDescription.builtIn, PreservedWorldTests.world, ScriptTests.world])
    func aWorldHasNone(world: WorldDescription) throws {
        #expect(try mistakes(String(decoding: world.json(), as: UTF8.self)) == [])
    }

    @Test func mistakesOfReadingAndBrokenRulesComeTogetherInTheOrderOfTheFile() throws {
        let found = try mistakes(
            #"""
            {"hosts": [{"name": "h", "powered": 1}],
             "seed": "a",
             "devices": [{"name": "A", "rssi": 99, "color": "red", "maximumMTU": 1,
               "services": [{"uuid": "180F", "characteristics": [
                 {"uuid": "xyz"},
                 {"uuid": "2A19", "maximumLength": 513}]}]}]}
            """#)
        let service = "devices[0].services[0]"
        #expect(
            found.map(\.path) == [
                "hosts[0].powered", "seed", "devices[0].rssi", "devices[0].color", "devices[0].maximumMTU",
                "\(service).characteristics[0].uuid", "\(service).characteristics[1].maximumLength",
            ])
        #expect(found.map { $0.place?.line } == [1, 2, 3, 3, 3, 5, 6])
    }

    @Test func anObjectOfAListDoesNotHideTheOthers() throws {
        #expect(
            try paths(
                #"""
                {"devices": [3, {"namer": "A"}, {"name": "B", "faults": [{"step": "read", "what": "delay"},
                  {"step": "x", "what": "pause"}, {"step": "read", "what": "fail", "code": 0}]}]}
                """#) == [
                    "devices[0]", "devices[1]", "devices[1].namer", "devices[2].faults[0].time",
                    "devices[2].faults[1].step", "devices[2].faults[2].code",
                ])
    }

    @Test func attributesBeyondTheHandlesOfADeviceAreNotRead() throws {
        let included = Array(repeating: #""180F""#, count: 65_535).joined(separator: ",")
        let found = try mistakes(
            #"""
            {"devices": [{"name": "A", "services": [
              {"uuid": "180F"}, {"uuid": "180D", "includes": [\#(included)]}, {"uuid": "not read"}]}]}
            """#)
        #expect(found.map(\.path) == ["devices[0].services[1]"])
        #expect(found.map(\.rule) == ["a device has at most 65535 attributes"])
    }

    @Test(arguments: ["services", "characteristics", "descriptors"])
    func aListOfAttributesIsAListOrNull(name: String) throws {
        func world(_ value: String) -> String {
            let levels = ["services", "characteristics", "descriptors"].prefix { $0 != name }
            let inner = levels.reversed().reduce("\"\(name)\": \(value)") { inner, level in
                #""\#(level)": [{"uuid": "2A19", \#(inner)}]"#
            }
            return #"{"devices": [{"name": "A", \#(inner)}]}"#
        }
        #expect(try mistakes(world("null")) == [])
        #expect(try mistakes(world("3")).map(\.rule) == ["a list is wanted here"])
    }

    @Test func eachElementOfAListAndEachRuleOfAnObjectHasItsMistake() throws {
        #expect(
            try paths(
                #"""
                {"devices": [{"name": "A", "advertising": [{"data": {"services": ["x", "180D", "y"],
                   "serviceData": {"180D": "0", "z": "00", "180F": "01"}}}],
                  "services": [{"uuid": "180F", "includes": ["?"], "characteristics": [
                    {"uuid": "2A19", "properties": ["read", "reed", "rite"],
                     "timer": {"interval": "1 s", "values": ["00", "0", "g0"]}}]}],
                  "faults": [{"step": "read", "what": "pause", "code": 1, "time": "1 s", "count": 1, "always": true}]}],
                 "script": [{"at": "1 s", "disconnect": false, "index": -1, "notify": true}]}
                """#) == [
                    "devices[0].advertising[0].data.services[0]", "devices[0].advertising[0].data.services[2]",
                    "devices[0].advertising[0].data.serviceData.180D", "devices[0].advertising[0].data.serviceData.z",
                    "devices[0].services[0].includes[0]",
                    "devices[0].services[0].characteristics[0].properties[1]",
                    "devices[0].services[0].characteristics[0].properties[2]",
                    "devices[0].services[0].characteristics[0].timer.values[1]",
                    "devices[0].services[0].characteristics[0].timer.values[2]",
                    "devices[0].faults[0].code", "devices[0].faults[0].time", "devices[0].faults[0].always",
                    "script[0].at", "script[0].disconnect", "script[0].index", "script[0].notify",
                ])
    }

    @Test func whatFollowsFromAMistakeIsNone() throws {
        let unreadName = #"{"devices": [{"name": 3}], "script": [{"at": "1 s", "device": "A", "rssi": -50}]}"#
        #expect(try paths(unreadName) == ["devices[0].name"])
        let unreadService = #"""
            {"devices": [{"name": "A", "services": [{"uuid": 3}, {"uuid": "180F", "includes": ["1800"]}]}]}
            """#
        #expect(try paths(unreadService) == ["devices[0].services[0].uuid"])
        #expect(try paths(#"{"devices": [{"name": "A", "faults": [{"what": "fail", "time": "1 s"}]}]}"#).count == 1)
    }

    @Test func namesThatWereReadAreKnownBesideOtherMistakes() throws {
        let json = #"""
            {"hosts": [{"name": "h", "powered": 1, "centrals": [
               {"identifier": "c", "peers": [{"device": "A", "subscriptions": ["2A19"]}, {"device": "Z"}]}]}],
             "devices": [{"name": "A", "rssi": "x", "services": 3}],
             "script": [
               {"at": "1 s", "device": "B", "rssi": -50}, {"at": "1 s", "device": "A", "rssi": 99},
               {"at": "2 s", "device": "A", "characteristic": "2A19", "value": "00"},
               {"at": "3 s", "host": "g", "powered": true}]}
            """#
        #expect(
            try paths(json) == [
                "hosts[0].powered", "devices[0].rssi", "devices[0].services", "script[0].device", "script[1].rssi",
                "script[3].host",
            ])
    }

    @Test func manyDevicesOfOneEntryHaveItsMistakesOnce() throws {
        #expect(
            try paths(
                #"{"devices": [{"name": "A", "count": 50, "rssi": 99}, {"name": "B", "count": 2, "maximumMTU": 1}]}"#)
                == ["devices[0].rssi", "devices[1].maximumMTU"])
        #expect(
            try paths(#"{"devices": [{"name": "A", "count": 0}, {"name": "B", "rssi": 99}]}"#)
                == ["devices[0].count", "devices[1].rssi"])
    }

    @Test(arguments: ["", "{", "[1", "nonsense"])
    func whatIsNoJSONHasItsFirstMistake(json: String) throws {
        #expect(try mistakes(json).map(\.rule).allSatisfy { $0.hasPrefix("not JSON: ") })
        #expect(try mistakes(json).count == 1 && mistakes(json).first?.place != nil)
    }

    @Test(arguments: ["[]", "3", "null", #"{"devices": 1, "hosts": {}, "script": "a"}"#])
    func whatIsNoWorldHasMistakesAndNoTrap(json: String) throws {
        #expect(try !mistakes(json).isEmpty)
    }

    @Test func ofEndlessMistakesAHundredAreReported() throws {
        let devices = (0..<300).map { _ in #"{"name": "A", "rssi": 99}"# }.joined(separator: ", ")
        #expect(try mistakes("{\"devices\": [\(devices)]}").count == MistakeCollector.maximumCount)
    }

    @Test func theFirstOfThemIsTheOneThatReadingReports() throws {
        let json = #"{"devices": [{"name": "A", "color": 1, "shape": 2}]}"#
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }
        #expect(try error?.inFile(Self.file) == mistakes(json).first)
    }
}
