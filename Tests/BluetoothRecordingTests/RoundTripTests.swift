import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothRecording
import BluetoothSupport
import BluetoothTracing
import CoreBluetooth
import CoreBluetoothClasses
import Foundation
import Testing

/// Emulation, recording and replay: the same client receives the same values.
@Suite struct RoundTripTests {
    private final class Collected: Sendable {
        let recording = Lock<DeviceRecording?>(nil)

        func add(_ part: RecordingObserver.Part) {
            recording.withLock { recording in
                let source = DeviceRecording.Source(backend: part.backend, isRedacted: false)
                for line in part.lines {
                    switch line {
                    case .device(let device, _):
                        recording = DeviceRecording(device: device, source: source, events: recording?.events ?? [])
                    case .event(let event): recording?.events.append(event)
                    }
                }
            }
        }
    }

    /// Returns the recording of the client's use of a device.
    private func record(
        _ peripheral: EmulatedPeripheral, _ configuration: EmulatorConfiguration, keepsIdentity: Bool = true,
        _ client: @escaping @Sendable (Peripheral, Emulator) async throws -> Void = Lamp.use
    ) async throws -> DeviceRecording {
        let emulator = Emulator(configuration: configuration, time: .virtual)
        _ = try emulator.add(peripheral)
        let collected = Collected()
        let observer = RecordingObserver(keepsIdentity: keepsIdentity) { collected.add($0) }
        let backend = ObservingBackend(around: CBBackendSelection.emulator(emulator).backend, observer.observe)
        try await emulator.run {
            let central = Central(backend: .custom(backend))
            try await client(try await Lamp.first(central), emulator)
        }
        try await emulator.advance(by: .zero)
        return try #require(collected.recording.withLock { $0 })
    }

    private func kinds(_ recording: DeviceRecording) -> [RecordedEvent.Kind] {
        recording.events.map(\.kind).filter { if case .advertised = $0 { false } else { true } }
    }

    private func withoutTimes(_ kinds: [RecordedEvent.Kind]) -> [RecordedEvent.Kind] {
        kinds.map { kind in
            guard case .request(var request) = kind else { return kind }
            request.duration = nil
            return .request(request)
        }
    }

    @Test func aReplayIsRecordedAsTheOriginalWas() async throws {
        let original = try await record(EmulatedPeripheral(Lamp.description, handler: Lamp()), .instant)
        let lines = try original.jsonLines()
        let replayed = try DeviceRecording(jsonLines: lines).replayed()
        let copy = try await record(EmulatedPeripheral(replayed), .instant)
        #expect(kinds(copy) == kinds(original))
        #expect(copy.device == original.device)
        // 3 + 3 reads, writes, subscriptions, the notifications and the two ends of the link.
        #expect(kinds(original).count > 25)
        let opened = try #require(original.events.first { $0.kind == .linkOpened(mtu: 185) }).time
        let copyOpened = try #require(copy.events.first { $0.kind == .linkOpened(mtu: 185) }).time
        func times(_ recording: DeviceRecording, since start: Duration) -> [Duration] {
            recording.events.compactMap { if case .advertised = $0.kind { nil } else { $0.time - start } }
        }
        #expect(times(copy, since: copyOpened) == times(original, since: opened))
    }

    @Test func onARealisticLinkAReplayGivesTheSameValuesInTheSameOrder() async throws {
        let original = try await record(EmulatedPeripheral(Lamp.description, handler: Lamp()), .default)
        let copy = try await record(EmulatedPeripheral(original.replayed()), .default)
        #expect(withoutTimes(kinds(copy)) == withoutTimes(kinds(original)))
        for (one, other) in zip(original.events.requests, copy.events.requests) {
            let (duration, copied) = (one.duration ?? .zero, other.duration ?? .zero)
            // The tolerance is one connection interval, as the position of a request in it differs.
            #expect((copied - duration).inSeconds.magnitude <= 0.05, "\(one) \(other)")
        }
    }

    @Test func anAnswerTakesAsLongAsItTookOnASlowerLink() async throws {
        let slow = try await record(EmulatedPeripheral(Lamp.description, handler: Lamp()), .default)
        let copy = try await record(EmulatedPeripheral(slow.replayed()), .instant)
        func durations(_ recording: DeviceRecording) -> [Duration?] {
            recording.events.requests.filter { $0.operation == .read && $0.attribute.descriptor == nil }.map(\.duration)
        }
        #expect(durations(copy) == durations(slow) && durations(slow).allSatisfy { $0 ?? .zero > .milliseconds(5) })
    }

    @Test func thePlainDeviceHasWhatTheOriginalHas() async throws {
        let recording = try await record(EmulatedPeripheral(Lamp.description, handler: Lamp()), .instant)
        let (device, losses) = recording.plainDevice()
        var expected = Lamp.description
        // A recording cannot contain the values behind reads that a handler answers, nor its behavior.
        expected.address = expected.effectiveAddress
        expected.rssi = device.rssi
        expected.maximumMTU = 185
        expected.advertising[0].interval = device.advertising[0].interval
        expected.services[0].characteristics[0].value = Data([1])
        expected.services[0].characteristics[3].timer = .init(every: .seconds(1), values: (1...19).map { Data([$0]) })
        #expect(device == expected)
        #expect(
            losses == [
                "2 values of FFF0/FFF3 came at irregular times: only a .jsonl recording plays them"
            ])
        #expect(
            WorldDescription(devices: [device]).devices == [
                try PeripheralDescription(json: JSONEncoder().encode(device))
            ])
    }

    @Test func identitiesAreReplacedUnlessTheyAreKept() async throws {
        var description = Lamp.description
        description.address = "C0:DE:00:00:18:0D"
        description.advertising[0].data.manufacturerData = Data([0x4C, 0, 0xC0, 0xDE, 0, 0, 0x18, 0x0D])
        let peripheral = try EmulatedPeripheral(description, handler: Lamp())
        let recording = try await record(peripheral, .instant, keepsIdentity: false)
        let text = String(decoding: try recording.jsonLines(), as: UTF8.self)
        #expect(!text.contains("C0DE0000180D") && !text.contains("C0:DE") && !text.contains("534E2D3737"))
        #expect(recording.device.address == nil)
        let kept = try await record(peripheral, .instant, keepsIdentity: true)
        #expect(kept.device.address == "C0:DE:00:00:18:0D")
        #expect(
            kept.device.advertising
                == description.advertising.map { set in
                    var set = set
                    set.interval = kept.device.advertising[0].interval
                    return set
                })
    }

    @Test func allBuiltInDevicesAreRecordedAsWorldsThatAreValid() async throws {
        for handler in BuiltInHandler.allCases where ![.endlessServices].contains(handler) {
            let peripheral = try EmulatedPeripheral(handler.device)
            let recording = try await record(peripheral, .instant) { peripheral, emulator in
                let _: String = await Lamp.outcome {
                    try await withTimeout(.seconds(40), clock: emulator.swiftClock) {
                        try await peripheral.connect()
                        for service in try await peripheral.services() {
                            for characteristic in try await peripheral.characteristics(of: service)
                            where characteristic.properties.contains(.read) {
                                _ = try await peripheral.read(characteristic.id)
                            }
                        }
                    }
                    return "done"
                }
                await peripheral.disconnect()
            }
            try WorldDescription(devices: [recording.plainDevice().description]).validate()
            #expect(try DeviceRecording(jsonLines: recording.jsonLines()) == recording, "\(handler)")
        }
    }
}

extension [RecordedEvent] {
    fileprivate var requests: [RecordedRequest] {
        compactMap { if case .request(let request) = $0.kind { request } else { nil } }
    }
}
