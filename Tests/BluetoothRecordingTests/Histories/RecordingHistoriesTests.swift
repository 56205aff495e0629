import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothRecording
import BluetoothSupport
import BluetoothTracing
import CoreBluetooth
import CoreBluetoothClasses
import CoreBluetoothTesting
import Foundation
import Testing

/// Recordings under radio histories: whatever happens, a recording is written and read as it is, its device is valid, and
/// a replay of it can be used.
@Suite struct RecordingHistoriesTests {
    @Test(.emulator(.histories(30, .all, rate: 4))) func aRecordingOfWhateverHappenedIsValid() async throws {
        let emulator = Emulator.current
        try emulator.add(EmulatedPeripheral(Lamp.description, handler: Lamp()))
        let collected = CollectedRecordings()
        let observer = RecordingObserver(keepsIdentity: true) { collected.add($0) }
        try await emulator.run(within: .seconds(10_000)) {
            let backend = ObservingBackend(around: CBBackendSelection.emulator(emulator).backend, observer.observe)
            let central = Central(
                backend: .custom(backend), settings: Central.Settings(connectTimeout: .seconds(30)))
            for _ in 0..<2 {
                do {
                    try await withTimeout(.seconds(120)) {
                        let found = try await central.first(for: [CBUUID(string: "FFF0")], within: .seconds(30))
                        try await Lamp.use(found.peripheral, emulator)
                    }
                } catch is BluetoothError {}
                try await Task.sleep(for: .seconds(5))
            }
        }
        for recording in collected.values {
            #expect(try DeviceRecording(jsonLines: recording.jsonLines()) == recording)
            try WorldDescription(devices: [recording.plainDevice().description]).validate()
            try await replay(recording)
        }
    }

    /// Uses the replay of a recording as the recorded device was used.
    private func replay(_ recording: DeviceRecording) async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(EmulatedPeripheral(recording.replayed()))
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central(
                backend: .emulator(emulator), settings: Central.Settings(connectTimeout: .seconds(30)))
            do {
                try await withTimeout(.seconds(300), clock: emulator.swiftClock) {
                    try await Lamp.use(try await central.first(within: .seconds(30)).peripheral, emulator)
                }
            } catch is BluetoothError {}
        }
    }
}

/// The recordings of all devices that a central connected to.
private final class CollectedRecordings: Sendable {
    private let recordings = Lock<[PeerID: DeviceRecording]>([:])

    var values: [DeviceRecording] { recordings.withLock { Array($0.values) } }

    func add(_ part: RecordingObserver.Part) {
        recordings.withLock { recordings in
            for line in part.lines {
                switch line {
                case .device(let device, _):
                    recordings[part.peer] = DeviceRecording(
                        device: device, source: DeviceRecording.Source(backend: part.backend, isRedacted: false),
                        events: recordings[part.peer]?.events ?? [])
                case .event(let event): recordings[part.peer]?.events.append(event)
                }
            }
        }
    }
}
