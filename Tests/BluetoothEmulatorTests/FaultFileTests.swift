import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Faults as data: in a description, and in a world file.
@Suite struct FaultFileTests {
    private func world(_ faults: [DeviceFault]) -> WorldDescription {
        var device = ContractPeer.description
        device.faults = faults
        return WorldDescription(devices: [device])
    }

    @Test(arguments: DeviceFault.Step.allCases)
    func aFaultIsWrittenAndReadBackTheSame(step: DeviceFault.Step) throws {
        let path = CharacteristicPath("2A19", service: "180F", index: 1)
        let world = world([
            DeviceFault(step, .fail()), DeviceFault(step, .fail(0x80), of: "2A19", skip: 2, count: 3),
            DeviceFault(step, .delay(.milliseconds(1500)), of: path), DeviceFault(step, .pause, count: nil),
            DeviceFault(step, .disconnect),
        ])
        #expect(try WorldDescription(json: world.json()) == world)
    }

    @Test func aFaultOfAnAnswerIsWrittenAndReadBackTheSame() throws {
        let world = world([
            DeviceFault(.write, .loseAnswer, of: "2A19", skip: 1, count: 2), DeviceFault(.connect, .loseAnswer),
            DeviceFault(.subscribe, .delayAnswer(.milliseconds(1500)), count: nil), DeviceFault(.read, .corrupt),
            DeviceFault(.notify, .corrupt, of: "2A19"),
        ])
        #expect(try WorldDescription(json: world.json()) == world)
    }

    @Test(arguments: [
        (DeviceFault(.readRSSI, .loseAnswer), "faults[0].what", "readRSSI has no answer from the device"),
        (DeviceFault(.pair, .delayAnswer(.zero)), "faults[0].what", "pair has no answer that can come late"),
        (DeviceFault(.subscribe, .corrupt), "faults[0].what", "subscribe returns no value"),
        (DeviceFault(.read, .delayAnswer(.seconds(-1))), "faults[0].time", "a delay is 0 or more"),
    ])
    func anImpossibleFaultOfADescriptionIsRefused(fault: DeviceFault, path: String, rule: String) throws {
        var device = ContractPeer.description
        device.faults = [fault]
        let error = #expect(throws: DescriptionError.self) { try Emulator(time: .virtual).add(device) }
        #expect(error?.path == path)
        #expect(error?.rule == rule)
    }

    @Test func aWorldFileMakesAReadFail() async throws {
        let json = """
            {"devices": [{"name": "Battery", "advertising": [{}], "services": [
                {"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": "64"}]}],
              "faults": [{"step": "read", "what": "fail", "code": 14, "characteristic": "2A19", "skip": 1}]}]}
            """
        let world = try WorldDescription(json: Data(json.utf8))
        let fixture = Fixture(emulator: try Emulator(world: world, configuration: .instant, time: .virtual))
        try await fixture.powerOn()
        let device = try #require(fixture.emulator.devices.first)
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(level)),
            .request(link: link, operation: op(2), .read(level)),
            .request(link: link, operation: op(3), .read(level)))
        #expect(
            events == [
                .response(link: link, operation: op(1), .value(Data([100]))),
                .response(link: link, operation: op(2), .failure(.att(14, operation: "read"))),
                .response(link: link, operation: op(3), .value(Data([100]))),
            ])
    }

    @Test(arguments: [
        (#"{"step": "jump", "what": "fail"}"#, "devices[0].faults[0].step"),
        (#"{"step": "read"}"#, "devices[0].faults[0].what"),
        (#"{"step": "read", "what": "fail", "code": 0}"#, "devices[0].faults[0].code"),
        (#"{"step": "read", "what": "pause", "code": 1}"#, "devices[0].faults[0].code"),
        (#"{"step": "read", "what": "delay"}"#, "devices[0].faults[0].time"),
        (#"{"step": "read", "what": "fail", "time": "1 s"}"#, "devices[0].faults[0].time"),
        (#"{"step": "read", "what": "delayAnswer"}"#, "devices[0].faults[0].time"),
        (#"{"step": "read", "what": "loseAnswer", "time": "1 s"}"#, "devices[0].faults[0].time"),
        (#"{"step": "readRSSI", "what": "loseAnswer"}"#, "devices[0].faults[0].what"),
        (#"{"step": "notify", "what": "delayAnswer", "time": "1 s"}"#, "devices[0].faults[0].what"),
        (#"{"step": "write", "what": "corrupt"}"#, "devices[0].faults[0].what"),
        (#"{"step": "read", "what": "fail", "skip": -1}"#, "devices[0].faults[0].skip"),
        (#"{"step": "read", "what": "fail", "count": 0}"#, "devices[0].faults[0].count"),
        (#"{"step": "read", "what": "fail", "count": 2, "always": true}"#, "devices[0].faults[0].always"),
        (#"{"step": "read", "what": "fail", "index": 1}"#, "devices[0].faults[0].characteristic"),
    ])
    func anImpossibleFaultIsRefused(text: String, path: String) throws {
        let json = #"{"devices": [{"name": "A", "faults": [\#(text)]}]}"#
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }
        #expect(error?.path == path)
    }
}
