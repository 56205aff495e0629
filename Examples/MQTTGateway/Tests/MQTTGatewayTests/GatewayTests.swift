import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation
import GatewayCore
import GatewaySimulation
import Mosquitto
import Testing

/// A gateway in this process, its devices, and a real broker.
@Suite(.serialized, .enabled(if: hasBroker, "mosquitto is not installed"), .timeLimit(.minutes(2)))
struct GatewayTests {
    @Test func valuesArriveInOrderAndOnceWithAnIdentifierEach() async throws {
        let fixture = try Fixture()
        try await fixture.listening {
            try await fixture.running { _ in
                try await fixture.values(20)
                try await fixture.lastValues()
            }
            for device in 0..<2 {
                let numbers = try fixture.numbers(of: device)
                #expect(numbers == Array(1...numbers.count))
            }
            let values = fixture.listener.messages.filter { $0.topic.hasSuffix("/sequence") && !$0.isRetained }
            #expect(Set(try values.map { try Content($0).id }).count == values.count)
        }
    }

    @Test func theGatewayAndItsDevicesAreOnlineAndThenOffline() async throws {
        let fixture = try Fixture()
        try await fixture.listening {
            try await fixture.running { _ in
                try await fixture.listener.first("bluetooth/test/status") { $0.text == "online" }
                try await fixture.listener.first("bluetooth/test/device-0/status") { $0.text == "online" }
            }
            try await fixture.listener.first("bluetooth/test/status") { $0.text == "offline" }
            #expect(fixture.listener.messages(of: "bluetooth/test/device-0/status").last?.text == "offline")
        }
        let later = try Listener(port: fixture.broker.port)
        try await later.listening {
            let status = try await later.first("bluetooth/test/status")
            #expect(status.isRetained && status.text == "offline")
        }
    }

    @Test func aDeviceThatIsOutOfRangeIsOffline() async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            try await fixture.running { _ in
                try await fixture.values(1)
                let device = try #require(fixture.emulator.device(named: "Sequence 0"))
                device.disconnect()
                device.setProximity(.outOfRange)
                try await fixture.listener.until { messages in
                    messages.filter { $0.topic == "bluetooth/test/device-0/status" }.suffix(2).map(\.text)
                        == ["online", "offline"]
                }
                device.setProximity(.near)
                try await fixture.listener.until { messages in
                    messages.last { $0.topic == "bluetooth/test/device-0/status" }?.text == "online"
                }
            }
        }
    }

    /// The link remains as after a gateway that was killed.
    @Test func aDeviceThatIsConnectedAlreadyIsFoundByItsName() async throws {
        let fixture = try Fixture(devices: 1)
        let central = Central(backend: .emulator(fixture.emulator))
        let found = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Sequence 0" }
        try await found.peripheral.connect()
        try await fixture.listening {
            try await fixture.running(fixture.configuration { "localName: Sequence \($0)" }) { _ in
                try await fixture.values(1)
            }
        }
    }

    /// Without a bond, it is then a new device for the host.
    @Test func aDeviceThatChangesItsAddressIsFoundAgainByItsName() async throws {
        let fixture = try Fixture(devices: 1, interval: .seconds(5), time: .scaled(by: 100))
        try await fixture.listening {
            try await fixture.running(fixture.configuration { "localName: Sequence \($0)" }) { _ in
                try await fixture.values(3)
                let device = try #require(fixture.emulator.device(named: "Sequence 0"))
                device.rotateAddress()
                device.disconnect()
                try await fixture.values(try fixture.numbers().count + 20)
            }
        }
    }

    /// The system knows a device once it has heard it.
    @Test func aDeviceThatTheSystemDoesNotKnowIsFoundByItsIdentifier() async throws {
        let fixture = try Fixture()
        let identifiers = try (0..<2).map { index in
            try #require(fixture.emulator.device(named: "Sequence \(index)")?.identifier())
        }
        let central = Central(backend: .emulator(fixture.emulator))
        #expect(try await central.peripherals(identifiers: identifiers.map(\.uuid)).isEmpty)
        try await fixture.listening {
            try await fixture.running(fixture.configuration { "identifier: \(identifiers[$0])" }) { _ in
                for device in 0..<2 { try await fixture.values(1, of: device) }
            }
        }
    }

    // MARK: The broker

    @Test func aBrokerThatIsKilledAndComesBackGetsEachValueOnce() async throws {
        let fixture = try Fixture()
        try await fixture.listening {
            let metrics = try await fixture.running { metrics in
                try await fixture.values(10)
                fixture.broker.kill()
                // The file contains twenty waiting values of each of two devices.
                while metrics.queueRows < 40 { await Task.yield() }
                #expect(!metrics.isBrokerConnected)
                try fixture.broker.start()
                try await fixture.lastValues()
            }
            for device in 0..<2 {
                let numbers = try fixture.numbers(of: device)
                #expect(Set(numbers) == Set(1...(numbers.max() ?? 0)))
                // Messages that were under way when the broker was killed may arrive twice, with the same identifier:
                // at most a window.
                #expect(numbers.count - Set(numbers).count <= 20)
            }
            #expect(metrics.count(.connections) == 2)
            #expect(metrics.queueRows == 0)
        }
    }

    @Test func discoveryMessagesAreRetainedAndComeAgainWhenHomeAssistantStarts() async throws {
        let fixture = try Fixture(devices: 1)
        let topic = "homeassistant/sensor/test_device-0/sequence/config"
        try await fixture.listening {
            try await fixture.running { _ in
                let message = try await fixture.listener.first(topic)
                #expect(message.text.contains("\"state_topic\":\"bluetooth/test/device-0/sequence\""))
                try fixture.listener.client.publish(MQTTMessage("homeassistant/status", "online"))
                try await fixture.listener.until { $0.count { $0.topic == topic } == 2 }
            }
        }
        let later = try Listener(port: fixture.broker.port)
        try await later.listening {
            let message = try await later.first(topic)
            #expect(message.isRetained)
        }
    }

    @Test func theDiscoveryMessageOfARemovedValueIsWithdrawn() async throws {
        let fixture = try Fixture(devices: 2)
        let topic = "homeassistant/sensor/test_device-1/sequence/config"
        try await fixture.listening {
            try await fixture.running { _ in try await fixture.listener.first(topic) }
            var configuration = try fixture.configuration()
            configuration.devices.removeLast()
            try await fixture.running(configuration) { _ in
                try await fixture.listener.first(topic) { $0.payload.isEmpty }
            }
        }
    }

    // MARK: Commands

    @Test func aCommandIsWrittenAndItsResultPublished() async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            let metrics = try await fixture.running { _ in
                try await fixture.values(1)
                try fixture.listener.client.publish(MQTTMessage("bluetooth/test/device-0/level/set", "42"))
                let result = try Content(await fixture.listener.first("bluetooth/test/device-0/level/result"))
                #expect(result.ok == true && result.error == nil)
                let device = try #require(fixture.emulator.device(named: "Sequence 0"))
                #expect(device.value(of: "FFF2") == Data([42]))
            }
            #expect(metrics.count(.commandsDone) == 1)
        }
    }

    @Test(arguments: [
        ("101", false, "the payload must be a number, 0.0 to 100.0"),
        ("on", false, "the payload must be a number, 0.0 to 100.0"),
        ("42", true, "a retained command may be old"),
        (String(repeating: "1", count: 513), false, "the payload has more than 512 bytes"),
    ])
    func aCommandIsRefusedWithTheReason(payload: String, isRetained: Bool, reason: String) async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            let command = MQTTMessage("bluetooth/test/device-0/level/set", payload, isRetained: isRetained)
            if isRetained {
                try fixture.listener.client.publish(command)
                try await fixture.listener.first(command.topic)
            }
            let metrics = try await fixture.running { _ in
                try await fixture.values(1)
                if !isRetained { try fixture.listener.client.publish(command) }
                let result = try Content(await fixture.listener.first("bluetooth/test/device-0/level/result"))
                #expect(result.ok == false && result.error == reason)
            }
            #expect(metrics.count(.commandsDone) == 0)
            #expect(fixture.emulator.device(named: "Sequence 0")?.value(of: "FFF2") == Data([0]))
        }
    }

    /// A device gets only a few of 3,000 commands, and the log has no line for each.
    @Test(arguments: ["level", "unknown"]) func aFloodOfCommandsIsBoundedAndLoggedOnce(command: String) async throws {
        let fixture = try Fixture(devices: 1)
        let log = RecordedLog()
        try await fixture.listening {
            let start = ContinuousClock.now
            let metrics = try await fixture.running(logger: log.logger) { metrics in
                try await fixture.values(1)
                for number in 0..<3_000 {
                    let topic = "bluetooth/test/device-0/\(command)/set"
                    try fixture.listener.client.publish(MQTTMessage(topic, "\(number % 100)"))
                }
                // The gateway receives its last command after the others.
                try fixture.listener.client.publish(MQTTMessage("bluetooth/test/end/end/set", ""))
                while metrics.count(.commandsRefused) < 100 { await Task.yield() }
                try await fixture.values(60)
            }
            let periods = Int((ContinuousClock.now - start) / .seconds(10)) + 1
            let results = fixture.listener.messages(of: "bluetooth/test/device-0/\(command)/result").count
            if command == "unknown" {
                #expect(results == 0)
            } else {
                // The limits are a burst, five a second, and one refusal in each period.
                #expect(results >= 20 && results <= 20 + 50 * periods + periods)
            }
            #expect(metrics.count(.commandsDone) + metrics.count(.commandsRefused) >= results)
        }
        #expect(log.lines.count { $0.contains("ommand") } <= 8, "\(log.lines)")
    }

    @Test func homeAssistantThatStartsTooOftenGetsDiscoveryAFewTimes() async throws {
        let fixture = try Fixture(devices: 1)
        let topic = "homeassistant/sensor/test_device-0/sequence/config"
        let log = RecordedLog()
        try await fixture.listening {
            try await fixture.running(logger: log.logger) { _ in
                try await fixture.listener.first(topic)
                for _ in 0..<50 { try fixture.listener.client.publish(MQTTMessage("homeassistant/status", "online")) }
                let command = MQTTMessage("bluetooth/test/device-0/level/set", "1")
                try fixture.listener.client.publish(command)
                // The result arrives after the others.
                try await fixture.listener.first("bluetooth/test/device-0/level/result")
            }
        }
        #expect((2...6).contains(fixture.listener.messages(of: topic).count))
        #expect(log.lines.contains { $0.contains("Home Assistant starts too often") })
    }

    @Test func aCommandThatTheConfigurationDoesNotHaveIsNotWritten() async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            let metrics = try await fixture.running { metrics in
                try await fixture.values(1)
                try fixture.listener.client.publish(MQTTMessage("bluetooth/test/device-0/sequence/set", "1"))
                while metrics.count(.commandsRefused) == 0 { await Task.yield() }
            }
            #expect(metrics.count(.commandsDone) == 0)
        }
    }
}
