import Dispatch
import Foundation
import GatewaySimulation
import Mosquitto
import Testing

/// Connections that cannot be established.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ConnectionTests {
    private func settings(_ host: SilentHost, limit: Duration = .seconds(15)) -> BrokerSettings {
        var settings = BrokerSettings(host: "127.0.0.1", port: host.port, clientID: "test")
        settings.answerLimit = limit
        return settings
    }

    @Test(arguments: [true, false])
    func theThreadGoesRoundAndStopsWhileTheBrokerIsSilent(isReachable: Bool) async throws {
        let host = try SilentHost(isReachable: isReachable)
        defer { host.close() }
        let client = try MosquittoClient(settings(host))
        client.start()
        try await client.rounds(3)
        let stop = ContinuousClock.now
        client.stop(within: .seconds(50))
        #expect(ContinuousClock.now - stop < .seconds(10))
    }

    @Test func anAttemptToConnectEndsWithoutAnAnswerOfTheHost() async throws {
        let host = try SilentHost(isReachable: false)
        defer { host.close() }
        let event = try await MosquittoClient.firstEvent(settings(host, limit: .milliseconds(200)))
        #expect(event == .disconnected(MosquittoError("the broker's host does not answer")))
    }

    @Test func anAttemptToConnectEndsWithoutAnAnswerOfTheBroker() async throws {
        let host = try SilentHost(isReachable: true)
        defer { host.close() }
        let event = try await MosquittoClient.firstEvent(settings(host, limit: .milliseconds(200)))
        #expect(event == .disconnected(MosquittoError("the broker does not answer")))
    }

    @Test func aPortThatIsClosedIsReportedAtOnce() async throws {
        var settings = BrokerSettings(host: "127.0.0.1", port: try BrokerProcess.freePort(), clientID: "test")
        settings.answerLimit = .seconds(3_600)
        let event = try await MosquittoClient.firstEvent(settings)
        #expect(event == .disconnected(MosquittoError("Connection refused")))
    }

    /// The signal is the one that systemd sends.
    @Test func aSignalStopsTheGatewayCleanlyWhileTheBrokerIsSilent() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let host = try SilentHost(isReachable: false)
        defer { host.close() }
        let systemd = try NotifySocket(folder.appending(path: "notify").path)
        let file = folder.appending(path: "gateway.yaml")
        try Data(
            """
            gateway: test
            broker: { host: 127.0.0.1, port: \(host.port) }
            queue: { file: queue.sqlite }
            devices: [{ id: heart, address: "C0:DE:00:00:18:0D", profiles: heart-rate }]
            """.utf8
        ).write(to: file)
        let program = try Program(
            "mqtt-gateway", ["run", file.path],
            environment: ["COREBLUETOOTH_BACKEND": "emulator", "NOTIFY_SOCKET": systemd.path])
        try await systemd.first("READY=1")
        #expect(program.end(SIGTERM) == 0)
    }

    /// The thread hangs as with a name server that does not answer.
    @Test func theSequencesEndWhileTheThreadHangs() async throws {
        let settings = BrokerSettings(host: "127.0.0.1", port: try BrokerProcess.freePort(), clientID: "test")
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let client = try MosquittoClient(settings) { _ in end.wait() }
        client.start()
        var events = client.events.makeAsyncIterator()
        #expect(await events.next() == .disconnected(MosquittoError("Connection refused")))
        client.stop(within: .milliseconds(10))
        #expect(await events.next() == nil)
        for await _ in client.messages {}
    }

    // MARK: Addresses

    /// Whether `localhost` has an address of either family; a broker on 127.0.0.1 has one of them.
    private static let hasTwoAddresses: Bool = {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var addresses: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo("localhost", nil, &hints, &addresses) == 0 else { return false }
        defer { freeaddrinfo(addresses) }
        let families = sequence(first: addresses) { $0?.pointee.ai_next }.prefix { $0 != nil }.map {
            $0?.pointee.ai_family
        }
        return families.contains(AF_INET6) && families.contains(AF_INET)
    }()

    @Test(.enabled(if: hasBroker && hasTwoAddresses, "mosquitto is not installed, or localhost has one address"))
    func theAddressOfTheOtherFamilyIsTriedInTheSameAttempt() async throws {
        let fixture = try Fixture(devices: 0)
        defer { fixture.broker.kill() }
        let settings = BrokerSettings(host: "localhost", port: fixture.broker.port, clientID: "test")
        #expect(try await MosquittoClient.firstEvent(settings) == .connected)
    }
}
