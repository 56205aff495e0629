import FlyingFox
import FlyingSocks
import Foundation
import Logging

/// A server that answers `GET /metrics` on 127.0.0.1.
struct MetricsServer {
    let port: UInt16
    let metrics: GatewayMetrics

    /// Runs until its task is cancelled.
    ///
    /// - Throws: An error if the port cannot be used.
    func run() async throws {
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
        let type = HTTPHeader.contentType
        await server.appendRoute("GET /metrics") { [metrics] _ in
            HTTPResponse(
                statusCode: .ok, headers: [type: "text/plain; version=0.0.4"], body: Data(metrics.text.utf8))
        }
        try await server.run()
    }
}
