package import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation

/// A client of a served world, connected by its socket.
package struct LiveClient: Sendable {
    /// The reason that no answer arrived.
    package enum ClientError: Error, Hashable {
        /// No world is served at the socket.
        case noServer
        /// The server refused the request.
        case refused(LiveError)
        case timedOut
        /// The answer is not one of the protocol.
        case malformed(String)
    }

    private let path: String
    private let limit: Duration

    /// - Parameters:
    ///   - path: The name of the socket.
    ///   - limit: The time limit of an answer.
    package init(socket path: String, limit: Duration) { (self.path, self.limit) = (path, limit) }

    /// Sends a request, and reads the whole answer.
    package func send(_ request: LiveRequest) async throws(ClientError) -> Data {
        let path = path
        do {
            return try await TimeLimit.run(limit, orThrow: ClientError.timedOut) {
                try await Self.ask(request, at: path)
            }
        } catch let error as ClientError {
            throw error
        } catch let error as SocketError {
            if case .failed = error { throw .noServer }
            throw .malformed("\(error)")
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// Sends a request, and reads an answer in JSON.
    package func send<Answer: Decodable>(
        _ request: LiveRequest, for type: Answer.Type = Answer.self
    ) async throws(ClientError) -> Answer {
        let data = try await send(request)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// Returns the events after one, once they exist; an empty list after some seconds.
    package func events(after sequence: UInt64) async throws(ClientError) -> [LiveEvent] {
        let data = try await send(
            LiveRequest("GET", "/v1/events", query: ["after": "\(sequence)", "once": "true"]))
        do {
            return try data.split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(LiveEvent.self, from: Data($0))
            }
        } catch {
            throw .malformed("\(error)")
        }
    }

    private static func ask(_ request: LiveRequest, at path: String) async throws -> Data {
        var client = HTTPClient()
        let response = try await client.sendHTTPRequest(
            HTTPRequest(
                method: HTTPMethod(request.method), version: .http11, path: request.path,
                query: request.query.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) },
                headers: [HTTPHeader("Host"): "localhost", .contentType: "application/json", .connection: "close"],
                body: request.body),
            to: .unix(path: path))
        let body = try await response.bodyData
        guard response.statusCode.code != 200 else { return body }
        throw ClientError.refused(LiveError(response.statusCode.code, body: body))
    }
}
