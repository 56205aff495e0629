package import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation

/// Serves a live world by HTTP: on a socket of the user's alone, and, if wanted, on loopback for a browser.
package final class ViewServer: Sendable {
    /// Why a world cannot be served.
    package struct ServerError: Error, CustomStringConvertible {
        package let description: String
    }

    private let world: LiveWorld
    private let path: String
    private let socket: HTTPServer
    private let browser: HTTPServer?
    /// The address for a browser, with the token; nil without one.
    package let address: String?

    /// Prepares a server.
    ///
    /// - Parameters:
    ///   - path: The name of the socket, in a directory that only the user can enter.
    ///   - port: The port on 127.0.0.1 for a browser, 0 for a free one; nil for none.
    package init(_ world: LiveWorld, socket path: String, browserPort port: UInt16?) throws(ServerError) {
        guard path.utf8.count < 104 else {
            throw ServerError(description: "the name of the socket has more than 103 bytes: \(path)")
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
        do {
            let free = port == 0 ? try Self.freePort() : port
            let rules = AccessRules(token: token, port: free)
            browser = Self.server(
                at: try .inet(ip4: "127.0.0.1", port: free),
                RequestHandler(world: world, rules: rules, streams: streams))
            address = "http://127.0.0.1:\(free)/#token=\(token)"
        } catch {
            throw ServerError(description: "127.0.0.1 cannot be used: \(error)")
        }
    }

    private static func server(at address: some SocketAddress, _ handler: RequestHandler) -> HTTPServer {
        HTTPServer(
            config: HTTPServer.Configuration(
                address: address, timeout: 30, pool: BoundedSocketPool(HTTPServer.defaultPool()), logger: .disabled),
            handler: handler)
    }

    /// A port that no one listens on.
    private static func freePort() throws -> UInt16 {
        let socket = try Socket(domain: AF_INET)
        try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        guard case .ip4(_, let port) = try socket.sockname() else { throw SocketError.unsupportedAddress }
        try socket.close()
        return port
    }

    /// Serves until the task ends.
    ///
    /// - Parameter ready: Is called once clients can connect.
    /// - Throws: ``ServerError`` where an address is taken or cannot be used.
    package func run(_ ready: @escaping @Sendable () async -> Void) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in [socket] + (browser.map { [$0] } ?? []) { group.addTask { try await server.run() } }
                group.addTask { [world] in await world.run() }
                if let clock = world.clock { group.addTask { try await clock.run() } }
                try await socket.waitUntilListening()
                try await browser?.waitUntilListening()
                guard chmod(path, 0o600) == 0 else {
                    throw ServerError(description: "\(path): \(String(cString: strerror(errno)))")
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
