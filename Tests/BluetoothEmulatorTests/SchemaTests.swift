import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// The published schema and what the code reads must say the same.
@Suite struct SchemaTests {
    private func schema() throws -> JSONSchema {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try JSONSchema(contentsOf: package.appendingPathComponent("Schemas/world.schema.json"))
    }

    private func names<Key: CodingKey & CaseIterable>(_ keys: Key.Type) -> Set<String> {
        Set(keys.allCases.map(\.stringValue))
    }

    @Test func theSchemaHasTheFieldsThatTheCodeReads() throws {
        let schema = try schema()
        #expect(schema.fields(nil) == names(WorldDescription.CodingKeys.self))
        #expect(schema.fields("host") == names(HostDescription.CodingKeys.self))
        #expect(schema.fields("device") == names(PeripheralDescription.CodingKeys.self))
        #expect(schema.fields("advertising") == names(AdvertisingDescription.CodingKeys.self))
        #expect(schema.fields("advertisingData") == names(AdvertisingData.CodingKeys.self))
        #expect(schema.fields("service") == names(ServiceDescription.CodingKeys.self))
        #expect(schema.fields("characteristic") == names(CharacteristicDescription.CodingKeys.self))
        #expect(schema.fields("timer") == names(CharacteristicDescription.Timer.CodingKeys.self))
        #expect(schema.fields("pairing") == names(PairingDescription.CodingKeys.self))
        #expect(schema.fields("preservedCentral") == names(PreservedCentralDescription.CodingKeys.self))
        #expect(schema.fields("preservedPeer") == names(PreservedCentralDescription.Peer.CodingKeys.self))
        #expect(schema.fields("preservedPeripheral") == names(PreservedPeripheralDescription.CodingKeys.self))
        #expect(schema.fields("scan") == names(PreservedScan.CodingKeys.self))
        #expect(schema.fields("fault") == names(DeviceFault.CodingKeys.self))
        #expect(schema.fields("channel") == names(ChannelDescription.CodingKeys.self))
        #expect(schema.fields("descriptor") == names(DescriptorDescription.CodingKeys.self))
    }

    @Test func theSchemaHasTheNamesThatTheCodeKnows() throws {
        let schema = try schema()
        func list(_ definition: String, _ field: String) -> Set<String> {
            let properties = schema.definition(definition)?["properties"] as? [String: Any]
            let entry = properties?[field] as? [String: Any]
            let items = entry?["items"] as? [String: Any]
            return Set((entry?["enum"] ?? items?["enum"]) as? [String] ?? [])
        }
        #expect(list("device", "proximity") == Set(Proximity.allCases.map(\.rawValue)))
        #expect(list("device", "handler") == Set(BuiltInHandler.allCases.map(\.rawValue)))
        #expect(list("characteristic", "properties") == Set(CharacteristicPropertyName.allCases.map(\.rawValue)))
        #expect(list("pairing", "capability") == Set(PairingDescription.capabilities.map(\.rawValue)))
        #expect(list("fault", "step") == Set(DeviceFault.Step.allCases.map(\.rawValue)))
        #expect(list("fault", "what") == Set(DeviceFault.EffectName.allCases.map(\.rawValue)))
        #expect(list("pairing", "answer") == Set(PairingDescription.Answer.allCases.map(\.rawValue)))
        let permissions = schema.definition("permissions")?["items"] as? [String: Any]
        #expect(Set(permissions?["enum"] as? [String] ?? []) == Set(PermissionName.allCases.map(\.rawValue)))
    }

    @Test(arguments: [
        WorldDescription.builtIn, WorldDescription(devices: [ContractPeer.description]), PreservedWorldTests.world,
    ])
    func whatIsWrittenIsValidAndReadsBackTheSame(world: WorldDescription) throws {
        let json = try world.json()
        #expect(try schema().problems(JSONSerialization.jsonObject(with: json)) == [])
        #expect(try WorldDescription(json: json) == world)
    }

    @Test func theValidatorSeesMistakes() throws {
        let json = #"{"devices": [{"nam": "A", "rssi": 99, "services": [{"uuid": "18"}]}]}"#
        let problems = try schema().problems(JSONSerialization.jsonObject(with: Data(json.utf8)))
        #expect(problems.count == 4, "\(problems)")
    }
}
