import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Properties that all built-in devices share.
@Suite struct DeviceLibraryTests {
    @Test(arguments: BuiltInHandler.allCases)
    func eachDeviceIsValidAndNamesItsOwnHandler(handler: BuiltInHandler) throws {
        try handler.device.validate()
        #expect(handler.device.handler == handler || handler == .echo)
        #expect(!handler.device.advertising.isEmpty)
    }

    @Test func allDevicesLiveInOneWorld() throws {
        let world = WorldDescription(devices: BuiltInHandler.allCases.map(\.device))
        try world.validate()
    }

    @Test(arguments: BuiltInHandler.allCases.filter { $0 != .endlessServices })
    func aWorldFileNeedsNothingButNameAndHandler(handler: BuiltInHandler) throws {
        let json = #"{"devices": [{"name": "Ours", "handler": "\#(handler.rawValue)"}]}"#
        let device = try #require(WorldDescription(json: Data(json.utf8)).devices.first)
        var expected = handler.device.named("Ours")
        expected.handler = handler
        #expect(device == expected)
        let written = try WorldDescription(devices: [device]).json()
        #expect(try WorldDescription(json: written).devices == [device])
    }

    @Test func aWorldFileSetsParameters() async throws {
        let json = #"{"devices": [{"name": "Mine", "handler": "heart-rate", "parameters": {"heartRate": 120}}]}"#
        let fixture = try await DeviceFixture(try #require(WorldDescription(json: Data(json.utf8)).devices.first))
        try await fixture.subscribe("2A37")
        #expect(try await fixture.values("2A37", for: .seconds(1)) == [[0x16, 120, 0, 2, 0, 2]])
    }

    @Test(arguments: [
        (
            #"{"name": "A", "handler": "battery", "parameters": {"heartRate": 60}}"#,
            "devices[0].parameters.heartRate: the handler battery has the parameters batteryLevel"
        ),
        (
            #"{"name": "A", "handler": "echo", "parameters": {"heartRate": 60}}"#,
            "devices[0].parameters.heartRate: the handler echo has no parameters"
        ),
        (
            #"{"name": "A", "handler": "battery", "parameters": {"batteryLevel": 101}}"#,
            "devices[0].parameters.batteryLevel: the range is 0...100"
        ),
        (
            #"{"name": "A", "parameters": {"batteryLevel": 1}}"#,
            "devices[0].parameters: only a device with a handler has parameters"
        ),
    ])
    func aWrongParameterNamesTheRule(device: String, message: String) {
        let error = #expect(throws: DescriptionError.self) {
            try WorldDescription(json: Data(#"{"devices": [\#(device)]}"#.utf8))
        }
        #expect(error?.description == message)
    }

    @Test func aParameterThatADeviceDoesNotHaveIsIgnoredWithALineInTheTrace() async throws {
        let fixture = try await DeviceFixture(.battery)
        fixture.device.set(.heartRate, to: 99)
        fixture.device.set(.batteryLevel, to: .nan)
        try await fixture.emulator.runUntilIdle()
        let notes = fixture.emulator.trace.filter { $0.category == .note }
        #expect(notes.count == 2)
        #expect(notes.first?.text.hasSuffix("parameter heartRate ignored: the device does not have it") == true)
        let plain = try fixture.emulator.add(PeripheralDescription(name: "Plain"))
        plain.set("anything", to: 1)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.emulator.trace.last?.text.hasSuffix("the device has no handler") == true)
    }

    /// A handler that refuses a subscription, with a line in the trace, and accepts any parameter.
    private struct Guarded: EmulatedPeripheralHandler {
        func respond(
            to procedure: PeripheralProcedure, state: inout Void, device: inout DeviceActions
        ) -> ProcedureResponse {
            guard procedure.kind == .subscribe, procedure.uuid == "2A19" else { return .granted }
            device.log("\(procedure.central.host) wants to know")
            return .error(0x80)
        }

        func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
            if case .parameterChanged("mood", let mood) = event {
                device.setValue(Data([UInt8(mood)]), of: "2A19")
            }
        }
    }

    @Test func aHandlerRefusesASubscriptionAndHasParametersOfItsOwn() async throws {
        var description = PeripheralDescription.battery(level: 1)
        description.handler = nil
        description.parameters = ["mood": 3]
        let fixture = try await DeviceFixture(EmulatedPeripheral(description, handler: Guarded()))
        #expect(try await fixture.subscribe("2A19") == .refused(0x80))
        #expect(fixture.device.subscriberCount(of: "2A19") == 0)
        #expect(fixture.emulator.trace.contains { $0.text == "default wants to know" })
        #expect(try await fixture.read("2A19") == .value(Data([3])))
        fixture.device.set("mood", to: 4)
        #expect(try await fixture.read("2A19") == .value(Data([4])))
    }
}
