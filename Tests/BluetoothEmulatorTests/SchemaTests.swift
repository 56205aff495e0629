import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// The published schema and the code must agree.
@Suite struct SchemaTests {
    private func schema() throws -> JSONSchema {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try JSONSchema(contentsOf: package.appendingPathComponent("Schemas/world.schema.json"))
    }

    @Test func theSchemaHasTheFieldsThatTheCodeReads() throws {
        let schema = try schema()
        #expect(schema.fields(nil) == WorldDescription.fields.names)
        #expect(schema.fields("host") == HostDescription.fields.names)
        #expect(schema.fields("device") == PeripheralDescription.fields.names.union([DeviceGroup.countField]))
        #expect(schema.fields("advertising") == AdvertisingDescription.fields.names)
        #expect(schema.fields("advertisingData") == AdvertisingData.fields.names)
        #expect(schema.fields("service") == ServiceDescription.fields.names)
        #expect(schema.fields("characteristic") == CharacteristicDescription.fields.names)
        #expect(schema.fields("timer") == CharacteristicDescription.Timer.fields.names)
        #expect(schema.fields("pairing") == PairingDescription.fields.names)
        #expect(schema.fields("preservedCentral") == PreservedCentralDescription.fields.names)
        #expect(schema.fields("preservedPeer") == PreservedCentralDescription.Peer.fields.names)
        #expect(schema.fields("preservedPeripheral") == PreservedPeripheralDescription.fields.names)
        #expect(schema.fields("scan") == PreservedScan.fields.names)
        #expect(schema.fields("fault") == DeviceFault.Object.fields.names)
        #expect(schema.fields("step") == ScriptStep.Object.fields.names)
        #expect(schema.fields("replay") == ReplayOptions.fields.names)
        #expect(schema.fields("channel") == ChannelDescription.fields.names)
        #expect(schema.fields("descriptor") == DescriptorDescription.fields.names)
    }

    @Test func theSchemaHasTheNamesThatTheCodeKnows() throws {
        let schema = try schema()
        func list(_ definition: String?, _ field: String) -> Set<String> {
            let object = definition.map { schema.definition($0) } ?? schema.root
            let properties = object?["properties"] as? [String: Any]
            let entry = properties?[field] as? [String: Any]
            let items = entry?["items"] as? [String: Any]
            return Set((entry?["enum"] ?? items?["enum"]) as? [String] ?? [])
        }
        #expect(list(nil, "preset") == Set(EmulatorPreset.allCases.map(\.rawValue)))
        #expect(list("device", "proximity") == Set(Proximity.allCases.map(\.rawValue)))
        #expect(list("device", "phy") == Set(PHY.allCases.map(\.rawValue)))
        #expect(list("device", "handler") == Set(BuiltInHandler.allCases.map(\.rawValue)))
        #expect(list("characteristic", "properties") == Set(CharacteristicProperties.namesAndWords.map(\.name)))
        #expect(list("pairing", "capability") == Set(PairingCapability.allCases.map(\.rawValue)))
        #expect(list("step", "proximity") == Set(Proximity.allCases.map(\.rawValue)))
        #expect(list("fault", "step") == Set(DeviceFault.Step.allCases.map(\.rawValue)))
        #expect(list("fault", "what") == Set(DeviceFault.EffectName.allCases.map(\.rawValue)))
        #expect(list("pairing", "answer") == Set(PairingDescription.Answer.allCases.map(\.rawValue)))
        let permissions = schema.definition("permissions")?["items"] as? [String: Any]
        #expect(Set(permissions?["enum"] as? [String] ?? []) == Set(AttributePermissions.names.map(\.key)))
    }

    @Test(arguments: [
        WorldDescription.builtIn, WorldDescription(devices: [ContractPeer.description]), PreservedWorldTests.world,
        WorldDescription(seed: 7, preset: .slow, advertisingCollides: true), ScriptTests.world,
    ])
    func whatIsWrittenIsValidAndReadsBackTheSame(world: WorldDescription) throws {
        let json = try world.json()
        #expect(try schema().problems(JSONSerialization.jsonObject(with: json)) == [])
        #expect(try WorldDescription(json: json) == world)
    }

    @Test(arguments: [("\"000123\"", 123), ("123456", 123_456), ("\"123456\"", 123_456)])
    func aPasskeyIsSixDigitsAndIsWrittenAsText(json: String, passkey: Int) throws {
        let text = "{\"devices\": [{\"name\": \"A\", \"pairing\": {\"passkey\": \(json)}}]}"
        #expect(try schema().problems(JSONSerialization.jsonObject(with: Data(text.utf8))) == [])
        let world = try WorldDescription(json: Data(text.utf8))
        #expect(world.devices.first?.pairing.passkey == passkey)
        let written = String(decoding: try world.json(), as: UTF8.self)
        #expect(written.contains(passkey == 123 ? "\"passkey\" : \"000123\"" : "\"passkey\" : \"123456\""))
    }

    @Test(arguments: ["123", "\"123\"", "1234567", "-12345", "123456.5", "true", "\"12345a\""])
    func anotherPasskeyIsRefused(json: String) throws {
        let text = "{\"devices\": [{\"name\": \"A\", \"pairing\": {\"passkey\": \(json)}}]}"
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(text.utf8)) }
        #expect(error?.path == "devices[0].pairing.passkey")
        #expect(error?.rule == "a passkey has six digits, as in \"000123\"")
    }

    @Test func theValidatorSeesMistakes() throws {
        let json = #"{"devices": [{"nam": "A", "rssi": 99, "services": [{"uuid": "18"}]}]}"#
        let problems = try schema().problems(JSONSerialization.jsonObject(with: Data(json.utf8)))
        #expect(problems.count == 4, "\(problems)")
        let script = #"{"script": [{"at": "1 s", "interference": 1.5}, {"at": "1 s", "resetting": "x"}]}"#
        let steps = try schema().problems(JSONSerialization.jsonObject(with: Data(script.utf8)))
        #expect(steps.count == 2, "\(steps)")
    }
}
