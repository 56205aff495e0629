import Foundation
import GatewayCore
import GatewaySimulation
import Mosquitto
import Testing

/// Gateways in separate processes, which are killed and stopped, and a real broker.
@Suite(.serialized, .enabled(if: hasBroker, "mosquitto is not installed"), .timeLimit(.minutes(2)))
struct ProcessTests {
    /// Starts a gateway with one numbered device.
    private func simulate(_ fixture: Fixture, process: Int) throws -> Program {
        try Program(
            "gateway-scale",
            [
                "simulate", "--name", "test", "--folder", fixture.folder.path, "--port", "\(fixture.broker.port)",
                "--devices", "1", "--interval", "20", "--process", "\(process)",
            ])
    }

    private func values(_ fixture: Fixture, process: Int) throws -> [Content] {
        try fixture.listener.messages(of: "scale/test/device-0/sequence").filter { !$0.isRetained }
            .map(Content.init).filter { $0.process == process }
    }

    @Test func theBrokerSaysThatAKilledGatewayIsOffline() async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            let program = try simulate(fixture, process: 1)
            try await fixture.listener.first("scale/test/device-0/sequence")
            #expect(program.end(SIGKILL) == SIGKILL)
            try await fixture.listener.first("scale/test/status") { $0.text == "offline" }
        }
    }

    /// The first process writes without a broker, and is killed; the second one sends the messages that the first has
    /// written.
    @Test func whatAKilledGatewayHadInItsQueueIsSentByTheNext() async throws {
        let fixture = try Fixture(devices: 1)
        try await fixture.listening {
            let first = try simulate(fixture, process: 1)
            try await fixture.listener.first("scale/test/device-0/sequence")
            fixture.broker.kill()
            let sent = fixture.folder.appending(path: "test-1.sent").path
            while try SentLedger.counts(in: sent)[0] < 60 { await Task.yield() }
            _ = first.end(SIGKILL)
            let count = try SentLedger.counts(in: sent)[0]
            try fixture.broker.start()
            let second = try simulate(fixture, process: 2)
            try await fixture.listener.until { messages in
                messages.contains { (try? Content($0).process) == 2 }
            }
            let values = try values(fixture, process: 1)
            let numbers = Set(values.map(\.number))
            // The queue is sent in order, so every value of the first process arrives, except for those of the last
            // interval, or two on a busy machine, which no transaction had written at the kill.
            #expect(numbers == Set(1...(numbers.max() ?? 0)))
            #expect(count - numbers.count <= Int(2 * (Outbox.interval / .milliseconds(20))))
            // A second delivery has the identifier of the first.
            #expect(Set(values.map(\.id)).count == numbers.count)
            #expect(second.end(SIGTERM) == 0)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalStopsTheGatewayCleanlyAndSystemdIsNotified(signal: Int32) async throws {
        let fixture = try Fixture(devices: 1)
        let systemd = try NotifySocket(fixture.folder.appending(path: "notify").path)
        let file = fixture.folder.appending(path: "gateway.yaml")
        try Data(
            """
            gateway: test
            broker: { host: 127.0.0.1, port: \(fixture.broker.port) }
            queue: { file: queue.sqlite }
            devices:
              - { id: heart, address: "C0:DE:00:00:18:0D", profiles: heart-rate battery }
            """.utf8
        ).write(to: file)
        try await fixture.listening {
            let program = try Program(
                "mqtt-gateway", ["run", "--log-format", "json", file.path],
                environment: [
                    "COREBLUETOOTH_BACKEND": "emulator", "NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "200000",
                ])
            try await systemd.first("READY=1")
            try await systemd.first("WATCHDOG=1")
            let value = try await fixture.listener.first("bluetooth/test/heart/heart-rate")
            #expect((60...90).contains(try #require(try Content(value).value)))
            try await fixture.listener.first("bluetooth/test/heart/battery")
            #expect(program.end(signal) == 0)
            try await fixture.listener.first("bluetooth/test/status") { $0.text == "offline" }
        }
        try await systemd.first("STOPPING=1")
    }

    @Test func aMistakeInTheFileIsTheExitStatus2() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "mqtt-gateway-\(UUID().uuidString).yaml")
        try Data("gateway: test\n".utf8).write(to: file)
        defer { do { try FileManager.default.removeItem(at: file) } catch { Issue.record("\(error)") } }
        #expect(try Program("mqtt-gateway", ["check", file.path]).end(0) == 2)
    }
}
