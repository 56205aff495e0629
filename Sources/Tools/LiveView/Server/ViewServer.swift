import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation

/// A server of a live world by HTTP: on a socket that only the user can open, and optionally on loopback for a browser.
package final class ViewServer: Sendable {
    /// The reason that a world cannot be served.
    package struct ServerError: Error, CustomStringConvertible {
        package let description: String
    }

    private let world: LiveWorld
    private let path: String
    private let socket: HTTPServer
    /// The server and the relay for a browser; nil without one.
    private let browser: (server: HTTPServer, relay: LoopbackRelay, path: String)?
    /// The address for a browser, with the token; nil without one.
    package let address: String?

    /// Prepares a server.
    ///
    /// - Parameters:
    ///   - path: The name of the socket, in a directory that only the user can enter.
    ///   - port: The port on 127.0.0.1 for a browser, 0 for a free one; nil for none.
    package convenience init(_ world: LiveWorld, socket path: String, browserPort port: UInt16?) throws(ServerError) {
        try self.init(world, socket: path, browserPort: port, bounds: LoopbackRelay.Bounds())
    }

    init(
        _ world: LiveWorld, socket path: String, browserPort port: UInt16?, bounds: LoopbackRelay.Bounds
    ) throws(ServerError) {
        guard path.utf8.count < 102 else {
            throw ServerError(description: "the name of the socket has more than 101 bytes: \(path)")
        }
        (self.world, self.path) = (world, path)
        let streams = StreamCount()
        socket = Self.server(
            at: .unix(path: path), RequestHandler(world: world, rules: .socket, streams: streams))
        guard let port else {
            (browser, address) = (nil, nil)
            return
        }
        let token = AccessRules.makeToken()
        // The socket beside the other one, which only the relay knows.
        let inner = path + ".b"
        do {
            let relay = try LoopbackRelay(port: port, to: inner, token: token, bounds: bounds)
            let rules = AccessRules(token: token, port: relay.port)
            let server = Self.server(
                at: .unix(path: inner), RequestHandler(world: world, rules: rules, streams: streams))
            browser = (server, relay, inner)
            address = "http://127.0.0.1:\(relay.port)/#token=\(token)"
        } catch {
            throw ServerError(description: "127.0.0.1 cannot be used: \(error)")
        }
    }

    private static func server(at address: some SocketAddress, _ handler: RequestHandler) -> HTTPServer {
        HTTPServer(
            config: HTTPServer.Configuration(
                address: address, timeout: 30, logger: .disabled),
            handler: handler)
    }

    /// Serves until the task ends.
    ///
    /// - Parameter ready: Called once clients can connect.
    /// - Throws: ``ServerError`` if an address is taken or cannot be used.
    package func run(_ ready: @escaping @Sendable () async -> Void) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let servers = [(socket, path)] + (browser.map { [($0.server, $0.path)] } ?? [])
                for (server, _) in servers { group.addTask { try await server.run() } }
                if let relay = browser?.relay { group.addTask { try await relay.run() } }
                group.addTask { [world] in await world.run() }
                if let clock = world.clock { group.addTask { try await clock.run() } }
                for (server, path) in servers {
                    try await server.waitUntilListening(timeout: 60)
                    guard chmod(path, 0o600) == 0 else {
                        throw ServerError(description: "\(path): \(String(cString: strerror(errno)))")
                    }
                }
                await ready()
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as ServerError {
            throw error
        } catch is CancellationError {
            return
        } catch {
            guard !Task.isCancelled else { return }
            throw ServerError(description: "\(error)")
        }
    }
}
