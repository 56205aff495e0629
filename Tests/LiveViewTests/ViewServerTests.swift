import BluetoothEmulator
import FlyingFox
import FlyingSocks
import Foundation
import Testing

@testable import LiveView

/// The server of a live world, by its socket and on loopback.
@Suite(.timeLimit(.minutes(5))) struct ViewServerTests {
    private struct Served {
        let client: LiveClient
        let emulator: Emulator
        /// The address for a browser.
        let address: URL

        var port: UInt16 { UInt16(address.port ?? 0) }
        var token: String { String(address.fragment?.dropFirst("token=".count) ?? "") }

        /// Sends a request on loopback.
        func ask(
            _ method: HTTPMethod = .GET, _ path: String = "/v1/world", body: Data = Data(),
            _ changes: [HTTPHeader: String?] = [:]
        ) async throws -> HTTPResponse {
            var headers: [HTTPHeader: String] = [
                HTTPHeader("Host"): "127.0.0.1:\(port)", .authorization: "Bearer \(token)",
                .contentType: "application/json", .connection: "close",
            ]
            for (header, value) in changes { headers[header] = value }
            var client = HTTPClient()
            let request = HTTPRequest(
                method: method, version: .http11, path: path, query: [], headers: headers, body: body)
            let response = try await client.sendHTTPRequest(request, to: .inet(ip4: "127.0.0.1", port: port))
            // The body is read while the client holds its connection.
            return HTTPResponse(
                statusCode: response.statusCode, headers: response.headers, body: try await response.bodyData)
        }
    }

    /// Serves a world of one device while `body` runs.
    private func serve(
        bounds: LoopbackRelay.Bounds = LoopbackRelay.Bounds(),
        _ body: @escaping @Sendable (Served) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "v\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer {
            #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: directory) }
        }
        let emulator = try Emulator(world: WorldDescription(devices: [PeripheralDescription(name: "Tag")]))
        let world = LiveWorld(emulator, file: nil, clock: nil, directory: directory)
        let server = try ViewServer(
            world, socket: directory + "/s", browserPort: 0, bounds: bounds)
        let address = try #require(server.address.flatMap { URL(string: $0) })
        let served = Served(
            client: LiveClient(socket: directory + "/s", limit: .seconds(60)), emulator: emulator, address: address)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ready, isReady) = AsyncStream<Void>.makeStream()
            group.addTask {
                try await server.run { isReady.finish() }
                isReady.finish()
            }
            for await _ in ready {}
            defer { group.cancelAll() }
            let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/s")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try await body(served)
        }
    }

    @Test(arguments: [
        (EMFILE, true), (ENFILE, true), (ENOMEM, true), (ECONNABORTED, true), (EBADF, false), (EINVAL, false),
    ]) func aConnectionThatCannotBeAcceptedNowDoesNotEndTheServer(code: Int32, isTemporary: Bool) {
        let error = SocketError.failed(type: "Accept", errno: code, message: "")
        #expect(LoopbackRelay.isTemporary(error) == isTemporary)
        #expect(!LoopbackRelay.isTemporary(SocketError.disconnected))
    }

    @Test func aClientOfTheSocketAsksAndCommands() async throws {
        try await serve { served in
            let state: LiveState = try await served.client.send(LiveRequest("GET", "/v1/world"))
            let device = try #require(state.devices.first)
            let path = "/v1/devices/\(device.id)"
            let result: LiveResult = try await served.client.send(
                LiveRequest("PATCH", path, body: Data(#"{"proximity":"far"}"#.utf8)))
            #expect(served.emulator.presentWorld.devices.first?.proximity == .far)
            let events = try await served.client.events(after: state.sequence)
            #expect(
                events.contains { if case .device(let device) = $0.kind { device.proximity == "far" } else { false } })
            #expect(events.last?.sequence == result.sequence)
            let refusal = LiveClient.ClientError.refused(LiveError(400, "\"x\" is no UUID", path: "characteristic"))
            await #expect(throws: refusal) {
                let body = Data(#"{"characteristic":"x","value":""}"#.utf8)
                _ = try await served.client.send(LiveRequest("POST", path + "/values", body: body))
            }
        }
    }

    @Test func withoutAServerThereIsNoWorld() async {
        let client = LiveClient(socket: "/nonexistent/s", limit: .seconds(60))
        await #expect(throws: LiveClient.ClientError.noServer) {
            _ = try await client.send(LiveRequest("GET", "/v1/world"))
        }
    }

    @Test func aBrowserNeedsTheTokenAndThisOrigin() async throws {
        try await serve { served in
            let host = HTTPHeader("Host")
            let form: [HTTPHeader: String?] = [.contentType: "application/x-www-form-urlencoded"]
            let statuses = [
                try await served.ask(),
                try await served.ask(.GET, "/v1/world", [.authorization: nil]),
                try await served.ask(.GET, "/", [.authorization: nil]),
                try await served.ask(.GET, "/", [host: "rebound.example"]),
                try await served.ask(.GET, "/v1/world", [HTTPHeader("Origin"): "null"]),
                try await served.ask(.POST, "/v1/devices", body: Data("{}".utf8), form),
            ].map(\.statusCode.code)
            #expect(statuses == [200, 401, 200, 403, 403, 415])
            #expect(served.emulator.devices.count == 1)
        }
    }

    @Test func everyAnswerRestrictsThePage() async throws {
        try await serve { served in
            for path in ["/", "/view.js", "/v1/world", "/v1/nothing"] {
                let headers = try await served.ask(.GET, path).headers
                let policy = headers[HTTPHeader("Content-Security-Policy")] ?? ""
                #expect(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"))
                #expect(headers[HTTPHeader("X-Content-Type-Options")] == "nosniff")
                #expect(headers[HTTPHeader("Referrer-Policy")] == "no-referrer")
                #expect(!headers.keys.contains { $0.rawValue.lowercased().hasPrefix("access-control") })
            }
        }
    }

    @Test(arguments: ["/../etc/passwd", "/%2e%2e/etc/passwd", "/view.js/..", "//", "/index.html"])
    func noPathLeadsToAFile(path: String) async throws {
        try await serve { served in
            let status = try await served.ask(.GET, path).statusCode.code
            #expect(status == 404)
        }
    }

    @Test func aLongBodyIsRefused() async throws {
        try await serve { served in
            let body = Data(repeating: UInt8(ascii: " "), count: AccessRules.maximumBodyLength + 1)
            let status = try await served.ask(.POST, "/v1/devices", body: body).statusCode.code
            #expect(status == 413)
        }
    }

    @Test func aRequestWithoutAnEndIsCutOff() async throws {
        try await serve(bounds: LoopbackRelay.Bounds(requestLength: 32_768)) { served in
            let socket = try await AsyncSocket.connected(to: .inet(ip4: "127.0.0.1", port: served.port))
            let part = Data(repeating: UInt8(ascii: "a"), count: 65_536)
            var sent = 0
            await #expect(throws: SocketError.self) {
                while sent < 100_000_000 {
                    try await socket.write(part)
                    sent += part.count
                }
            }
            try socket.close()
        }
    }

    /// Connects, and sends a request for `path`, with or without its token.
    private func connect(_ served: Served, asking path: String?, hasToken: Bool = true) async throws -> AsyncSocket {
        let socket = try await AsyncSocket.connected(to: .inet(ip4: "127.0.0.1", port: served.port))
        guard let path else { return socket }
        let token = hasToken ? "Authorization: Bearer \(served.token)\r\n" : ""
        try await socket.write(
            Data("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n\(token)\r\n".utf8))
        // An answer shows that the connection has its place.
        #expect(try await socket.read(atMost: 12) == Array("HTTP/1.1 200".utf8))
        return socket
    }

    /// Connects until the token was shown within the time limit of an idle connection.
    private func connectInTime(_ served: Served) async throws -> AsyncSocket {
        while true {
            do {
                return try await connect(served, asking: "/v1/world")
            } catch SocketError.disconnected {
                continue
            }
        }
    }

    @Test func aConnectionTooManyIsClosedWhereAllHaveTheToken() async throws {
        try await serve { served in
            var open: [AsyncSocket] = []
            for _ in 0..<LoopbackRelay.maximumConnections {
                open.append(try await connect(served, asking: "/v1/world"))
            }
            let last = try await connect(served, asking: nil)
            await #expect(throws: SocketError.self) { try await last.read(atMost: 1) }
            for socket in open + [last] { try socket.close() }
        }
    }

    @Test func idleConnectionsOfStrangersLockNoBrowserOut() async throws {
        try await serve { served in
            // The browser's connection stays, however many other connections follow.
            let browser = try await connect(served, asking: "/v1/world")
            var strangers: [AsyncSocket] = []
            for number in 0..<3 * LoopbackRelay.maximumConnections {
                strangers.append(
                    try await connect(served, asking: number.isMultiple(of: 2) ? nil : "/", hasToken: false))
            }
            #expect(try await served.ask().statusCode.code == 200)
            await #expect(throws: SocketError.self) { try await strangers[0].read(atMost: 1) }
            try await browser.write(
                Data("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nConnection: close\r\n\r\n".utf8))
            var answer: [UInt8] = []
            while let bytes = try? await browser.read(atMost: 4_096) { answer += bytes }
            #expect(String(decoding: answer, as: UTF8.self).components(separatedBy: "HTTP/1.1 200").count == 2)
            for socket in strangers + [browser] { try socket.close() }
        }
    }

    @Test func aConnectionThatAsksNothingEndsUnlessItHasShownTheToken() async throws {
        try await serve(bounds: LoopbackRelay.Bounds(idleTime: .milliseconds(10))) { served in
            let browser = try await connectInTime(served)
            for path in [nil, "/"] {
                // The connection may end before its request on a busy machine.
                await #expect(throws: SocketError.self) {
                    let stranger = try await connect(served, asking: path, hasToken: false)
                    while true { _ = try await stranger.read(atMost: 4_096) }
                }
            }
            try await browser.write(Data("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n\r\n".utf8))
            #expect(try await browser.read(atMost: 1).isEmpty == false)
            try browser.close()
        }
    }

    @Test func aSocketWithALongNameIsRefused() {
        let world = LiveWorld(Emulator(), file: nil, clock: nil, directory: "/tmp")
        #expect(throws: ViewServer.ServerError.self) {
            try ViewServer(world, socket: "/tmp/" + String(repeating: "s", count: 100), browserPort: nil)
        }
    }
}
