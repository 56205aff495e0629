import Foundation
import FoundationNetworking
import GatewayCore
import GatewaySimulation
import Mosquitto
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct MetricsTests {
    @Test func theTextHasEachCounterWithHelpAndType() {
        let metrics = GatewayMetrics()
        metrics.add(.received, 3)
        metrics.setQueueRows(7)
        metrics.setConnected(true, device: "sensor")
        let lines = metrics.text.split(separator: "\n")
        #expect(lines.contains("gateway_values_received_total 3"))
        #expect(lines.contains("gateway_queue_rows 7"))
        #expect(lines.contains("gateway_devices_connected 1"))
        let names = GatewayMetrics.Counter.allCases.map(\.rawValue)
        #expect(names.allSatisfy { lines.contains("# TYPE \($0) counter") })
    }

    @Test(.enabled(if: hasBroker, "mosquitto is not installed"))
    func theGatewayAnswersOnLoopbackAlone() async throws {
        let fixture = try Fixture(devices: 1)
        let port = try BrokerProcess.freePort()
        try await fixture.listening {
            try await fixture.running(try fixture.configuration(extra: "metrics: { port: \(port) }")) { _ in
                try await fixture.values(3)
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
                let (data, _) = try await URLSession.shared.data(from: url)
                let text = String(decoding: data, as: UTF8.self)
                #expect(text.contains("\ngateway_broker_connected 1\n"))
                #expect(text.contains("\ngateway_devices_connected 1\n"))
                let sockets = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
                let hexadecimal = String(format: "%04X", port)
                #expect(sockets.contains("0100007F:\(hexadecimal) 00000000:0000 0A"))
                #expect(!sockets.contains("00000000:\(hexadecimal) 00000000:0000 0A"))
            }
        }
    }

    @Test(.enabled(if: hasBroker, "mosquitto is not installed"))
    func aPortThatIsTakenEndsTheGatewayWithAnError() async throws {
        let fixture = try Fixture(devices: 1)
        let configuration = try fixture.configuration(extra: "metrics: { port: \(fixture.broker.port) }")
        let (never, stopper) = AsyncStream<Void>.makeStream()
        await #expect(throws: (any Error).self) { try await fixture.gateway(configuration).run(until: never) }
        stopper.finish()
    }
}
