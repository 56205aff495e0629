import BluetoothEmulator
import CoreBluetooth
import Foundation
import GatewayCore
import Mosquitto
import Synchronization
import Testing

/// A gateway that publishes the values that emulated devices only advertise, and a real broker.
@Suite(.serialized, .enabled(if: hasBroker, "mosquitto is not installed"), .timeLimit(.minutes(2)))
struct AdvertisementTests {
    /// Returns an advertisement of BTHome with a temperature in hundredths of a degree.
    private func sensor(_ hundredths: UInt8) -> AdvertisingDescription {
        AdvertisingDescription(
            AdvertisingData(serviceData: ["FCD2": Data([0x40, 0x02, hundredths, 0x00])]), isConnectable: false)
    }

    private func add(
        _ name: String, _ address: String, _ hundredths: UInt8, to fixture: Fixture
    ) throws -> EmulatedDevice {
        try fixture.emulator.add(
            PeripheralDescription(
                name: name, address: DeviceAddress(address), advertising: [sensor(hundredths)], services: []))
    }

    private func configuration(_ fixture: Fixture, _ rules: String) throws -> GatewayCore.Configuration {
        try fixture.configuration(
            extra: """
                advertisements:
                \(rules)
                """)
    }

    @Test func whatADeviceAdvertisesIsPublishedAndDiscovered() async throws {
        let fixture = try Fixture(devices: 1)
        let device = try add("Sensor", "C0:00:00:00:AD:01", 200, to: fixture)
        _ = try add("Stranger", "C0:00:00:00:AD:02", 99, to: fixture)
        let rule = "  - { id: garden, name: Garden, format: bthome, address: C0:00:00:00:AD:01, minimumInterval: 1 s }"
        try await fixture.listening {
            let metrics = try await fixture.running(configuration(fixture, rule)) { _ in
                let message = try await fixture.listener.first("bluetooth/test/garden/temperature")
                #expect(message.text.hasSuffix("\"value\":2}"))
                let discovery = try await fixture.listener.first(
                    "homeassistant/sensor/test_garden/temperature/config")
                #expect(discovery.text.contains("\"device_class\":\"temperature\""))
                #expect(discovery.text.contains("\"expire_after\":1260"))
                try device.setAdvertising(sensor(210))
                try await fixture.listener.first("bluetooth/test/garden/temperature") { $0.text.contains("2.1") }
                // Both kinds of devices are served.
                try await fixture.values(3)
            }
            #expect(metrics.advertisingDevices == 1)
        }
        #expect(!fixture.listener.messages.contains { $0.text.contains("0.99") })
        let all = fixture.listener.messages(of: "bluetooth/test/garden/temperature")
        #expect(all.count == 2)
    }

    @Test func aDeviceThatIsNotYetHeardAgainStaysInHomeAssistantUntilItsRuleIsRemoved() async throws {
        let fixture = try Fixture(devices: 1)
        let device = try add("Sensor", "C0:00:00:00:AD:01", 200, to: fixture)
        let rules = "  - { id: any, format: bthome, devices: 1 }"
        let topic = "homeassistant/sensor/test_any-c0000000ad01/temperature/config"
        try await fixture.listening {
            try await fixture.running(configuration(fixture, rules)) { _ in try await fixture.listener.first(topic) }
            device.setAdvertising(false)
            let status = "bluetooth/test/status"
            try await fixture.running(configuration(fixture, rules)) { _ in
                try await fixture.listener.until { $0.count { $0.topic == status && $0.text == "online" } == 2 }
            }
            #expect(fixture.listener.messages(of: topic).allSatisfy { !$0.payload.isEmpty })
            try await fixture.running { _ in try await fixture.listener.first(topic) { $0.payload.isEmpty } }
        }
    }

    @Test func encryptedValuesAreLoggedOnceAndNotPublished() async throws {
        let fixture = try Fixture(devices: 1)
        let log = RecordedLog()
        let data = AdvertisingData(serviceData: ["FCD2": Data([0x41, 1, 2, 3, 4, 5, 6, 7, 8, 9])])
        _ = try fixture.emulator.add(
            PeripheralDescription(
                name: "Locked", address: DeviceAddress("C0:00:00:00:AD:03"),
                advertising: [AdvertisingDescription(data, isConnectable: false)], services: []))
        let rule = "  - { id: locked, format: bthome, address: C0:00:00:00:AD:03 }"
        try await fixture.listening {
            try await fixture.running(configuration(fixture, rule), logger: log.logger) { _ in
                try await fixture.values(40)
            }
        }
        #expect(
            log.lines.filter { $0.contains("encrypted") } == [
                "warning the advertised values are encrypted device=locked"
            ])
        #expect(!fixture.listener.messages.contains { $0.topic.contains("/locked/") })
    }

    // MARK: The clock

    /// The clock goes back an hour with each message, or forward a year.
    @Test(arguments: [-3_600.0, 31_536_000]) func aClockThatJumpsChangesTheTimeOfMessagesAlone(
        step: Double
    ) async throws {
        let fixture = try Fixture(devices: 1)
        let time = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        let gateway = Gateway(
            try fixture.configuration(), backend: .emulator(fixture.emulator), environment: [:],
            wallClock: {
                time.withLock {
                    $0 += step
                    return $0
                }
            }, logger: RecordedLog().logger)
        try await fixture.listening {
            let (stop, stopper) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await gateway.run(until: stop) }
                defer { stopper.finish() }
                try await fixture.values(20)
                try await fixture.lastValues()
            }
            let numbers = try fixture.numbers()
            #expect(numbers == Array(1...numbers.count))
            let values = fixture.listener.messages(of: "bluetooth/test/device-0/sequence").map(\.text)
            let times = values.compactMap { $0.split(separator: "\"time\":\"").last?.prefix(24) }
            #expect(times == times.sorted { step < 0 ? $0 > $1 : $0 < $1 })
        }
    }
}
