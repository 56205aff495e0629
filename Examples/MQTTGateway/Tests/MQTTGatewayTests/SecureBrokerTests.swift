import Foundation
import GatewayCore
import GatewaySimulation
import Mosquitto
import Testing

/// Whether the tools that make certificates and passwords are installed.
private let hasSecurityTools = ["/usr/bin/openssl", "/usr/bin/mosquitto_passwd"]
    .allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

/// A broker with TLS that requires a password.
@Suite(
    .serialized, .enabled(if: hasBroker && hasSecurityTools, "mosquitto, mosquitto_passwd or openssl is not installed"),
    .timeLimit(.minutes(1)))
final class SecureBrokerTests {
    private let folder: URL
    private let broker: BrokerProcess

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path
        // One certificate is the broker's, the other one that of an authority that did not sign it.
        for name in ["broker", "other"] {
            try Self.run(
                "/usr/bin/openssl",
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(path)/\(name).key",
                "-out", "\(path)/\(name).pem")
        }
        try Self.run("/usr/bin/mosquitto_passwd", "-b", "-c", "\(path)/passwords", "gateway", "swordfish")
        broker = try BrokerProcess(
            folder: folder,
            access: """
                certfile \(path)/broker.pem
                keyfile \(path)/broker.key
                allow_anonymous false
                password_file \(path)/passwords
                """)
        try broker.start()
    }

    deinit {
        broker.kill()
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(folder.path) remains: \(error)") }
    }

    private static func run(_ path: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(path)")
    }

    /// Returns the settings of a client with a configuration file.
    private func settings(authorities: String, password: String) throws -> BrokerSettings {
        let secret = folder.appending(path: "secret")
        try Data("\(password)\n".utf8).write(to: secret)
        let yaml = """
            gateway: test
            broker:
              host: 127.0.0.1
              port: \(broker.port)
              user: gateway
              password: { file: \(secret.path) }
              tls: { authorities: \(folder.path)/\(authorities).pem }
            queue: { file: queue.sqlite }
            devices: [{ id: sensor, localName: Sensor, profiles: battery }]
            """
        return try Configuration(yaml: yaml, file: "test.yaml").broker
    }

    private func firstEvent(authorities: String, password: String) async throws -> MQTTEvent? {
        try await MosquittoClient.firstEvent(try settings(authorities: authorities, password: password))
    }

    @Test func theGatewayConnectsWithTheRightPassword() async throws {
        #expect(try await firstEvent(authorities: "broker", password: "swordfish") == .connected)
    }

    @Test func theBrokerRefusesAnotherPassword() async throws {
        let event = try await firstEvent(authorities: "broker", password: "carp")
        guard case .disconnected(let error) = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(error.description.contains("the broker refuses the connection"))
    }

    @Test func theWaitsGrowWhileTheBrokerRefusesAndEachAttemptIsOneEvent() async throws {
        let waits = Waits()
        let client = try MosquittoClient(try settings(authorities: "broker", password: "carp"), pause: waits.add)
        client.start()
        defer { client.stop() }
        let reason = "the broker refuses the connection"
        var events = client.events.makeAsyncIterator()
        for _ in 0..<4 {
            guard case .disconnected(let error) = await events.next() else {
                Issue.record("the client connected")
                return
            }
            #expect(error.description.hasPrefix(reason))
        }
        // The wait follows the event.
        #expect(waits.first(3) == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test func theGatewayDoesNotTalkToABrokerWhoseCertificateItDoesNotTrust() async throws {
        let event = try await firstEvent(authorities: "other", password: "swordfish")
        guard case .disconnected = event else {
            Issue.record("\(String(describing: event))")
            return
        }
    }

    /// `mosquitto_loop` does not report such connections.
    @Test func aBrokerWithTLSThatIsAwayIsReportedAtOnce() async throws {
        var settings = try settings(authorities: "broker", password: "swordfish")
        settings.answerLimit = .seconds(3_600)
        settings.keepAlive = .seconds(3_600)
        broker.kill()
        guard case .disconnected = try await MosquittoClient.firstEvent(settings) else {
            Issue.record("the client connected")
            return
        }
    }

    @Test func aHostThatDoesNotAnswerTLSIsReportedOnceTheLimitHasPassed() async throws {
        let host = try SilentHost(isReachable: true)
        defer { host.close() }
        var settings = try settings(authorities: "broker", password: "swordfish")
        settings.port = host.port
        settings.answerLimit = .milliseconds(200)
        let event = try await MosquittoClient.firstEvent(settings)
        #expect(event == .disconnected(MosquittoError("the broker does not answer")))
    }

    /// After a connection that took a while, `mosquitto_loop` returns at once, thousands of times a second.
    @Test func theThreadWaitsForAnAnswerToTLS() async throws {
        let host = try SilentHost(isReachable: false)
        defer { host.close() }
        var settings = try settings(authorities: "broker", password: "swordfish")
        settings.port = host.port
        // The kernel tries again after one second and after three.
        settings.answerLimit = .seconds(5)
        let client = try MosquittoClient(settings)
        client.start()
        defer { client.stop() }
        try await client.rounds(2)
        try host.makeRoom()
        let event = await client.events.first { _ in true }
        #expect(event == .disconnected(MosquittoError("the broker does not answer")))
        #expect(client.loops < 1_000)
    }
}
