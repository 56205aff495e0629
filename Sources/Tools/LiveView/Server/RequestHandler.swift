import BluetoothSupport
import FlyingFox
import Foundation

/// A handler of HTTP requests: the page, and the protocol of a live world.
struct RequestHandler: HTTPHandler {
    /// The number of event streams at once.
    static let maximumStreams = 16

    let world: LiveWorld
    let rules: AccessRules
    let streams: StreamCount

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        var response: HTTPResponse
        do throws(LiveError) {
            response = try await answer(request)
        } catch {
            response = HTTPResponse(
                statusCode: HTTPStatusCode(error.status, phrase: "Refused"),
                headers: [.contentType: "application/json"], body: error.body)
            // The rest of the body is not read.
            response.headers[.connection] = "close"
        }
        for (header, value) in Self.securityHeaders { response.headers[header] = value }
        return response
    }

    private func answer(_ request: HTTPRequest) async throws(LiveError) -> HTTPResponse {
        var headers: [String: String] = [:]
        for (header, value) in request.headers { headers[header.rawValue.lowercased()] = value }
        let method = request.method.rawValue
        // The path as it was sent, without any normalization.
        let path = request.target.rawValue.split(separator: "?", maxSplits: 1).first.map(String.init) ?? ""
        if let refusal = rules.refusal(of: AccessRules.Request(method, path, headers)) { throw refusal }
        if method == "GET", let file = PageFile.all[path] { return file.response }
        let query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
        let body = try await body(of: request)
        return try response(await world.answer(LiveRequest(method, path, query: query, body: body)))
    }

    private func body(of request: HTTPRequest) async throws(LiveError) -> Data {
        let tooLong = LiveError(413, "a body has at most \(AccessRules.maximumBodyLength) bytes")
        guard request.bodySequence.count ?? 0 <= AccessRules.maximumBodyLength else { throw tooLong }
        var body = Data()
        do {
            for try await part in request.bodySequence {
                body.append(part)
                guard body.count <= AccessRules.maximumBodyLength else { throw tooLong }
            }
        } catch let error as LiveError {
            throw error
        } catch {
            throw LiveError(400, "the body cannot be read: \(error)")
        }
        return body
    }

    private func response(_ answer: LiveAnswer) throws(LiveError) -> HTTPResponse {
        switch answer {
        case .json(let body):
            return HTTPResponse(statusCode: .ok, headers: [.contentType: "application/json"], body: body)
        case .document(let body, let type, let name):
            return HTTPResponse(statusCode: .ok, headers: Self.headers(type, keptAs: name), body: body)
        case .file(let file, let type, let name):
            do {
                let body = try HTTPBodySequence(file: URL(fileURLWithPath: file))
                return HTTPResponse(statusCode: .ok, headers: Self.headers(type, keptAs: name), body: body)
            } catch {
                throw LiveError(500, "the file cannot be read")
            }
        case .events(let sequence, let isOnce):
            guard let place = streams.open(limit: Self.maximumStreams) else {
                throw LiveError(503, "\(Self.maximumStreams) clients read events already")
            }
            let events = EventBytes(log: world.log, sequence: sequence, isOnce: isOnce, place: place)
            return HTTPResponse(
                statusCode: .ok, headers: [.contentType: "application/jsonl", .transferEncoding: "chunked"],
                body: HTTPBodySequence(from: events))
        }
    }

    private static func headers(_ type: String, keptAs name: String) -> HTTPHeaders {
        [.contentType: type, .contentDisposition: "attachment; filename=\"\(name)\""]
    }

    /// The headers that let the page run only its scripts, be shown in no other page, and send no referrer.
    private static let securityHeaders: [(HTTPHeader, String)] = [
        (
            HTTPHeader("Content-Security-Policy"),
            "default-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
        ),
        (HTTPHeader("X-Content-Type-Options"), "nosniff"),
        (HTTPHeader("Referrer-Policy"), "no-referrer"),
        (HTTPHeader("Cross-Origin-Resource-Policy"), "same-origin"),
        (.cacheControl, "no-store"),
    ]
}
