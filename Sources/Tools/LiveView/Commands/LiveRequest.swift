package import BluetoothSupport

/// A question or a command to a live world, without its transport.
package struct LiveRequest: Hashable, Sendable {
    /// The method: GET, POST, PATCH or DELETE.
    package var method: String
    /// The path without its query: `/v1/world`.
    package var path: String
    package var query: [String: String]
    package var body: Data

    package init(_ method: String, _ path: String, query: [String: String] = [:], body: Data = Data()) {
        (self.method, self.path, self.query, self.body) = (method, path, query, body)
    }

    /// The parts of the path after `/v1/`; nil for another path.
    var parts: [Substring]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        return parts.first == "v1" ? Array(parts.dropFirst()) : nil
    }
}

/// The answer to a request.
package enum LiveAnswer: Sendable {
    /// A JSON object.
    case json(Data)
    /// A text or a file for download; `name` is that of the file.
    case document(Data, type: String, name: String)
    /// The contents of a file of this machine, for download.
    case file(String, type: String, name: String)
    /// Lines of JSON, from the event after this one on: without an end, or only the next ones.
    case events(after: UInt64, once: Bool)
}

/// The reason that a request was refused, with the status of HTTP.
package struct LiveError: Error, Hashable, Codable, Sendable {
    package var status: Int
    /// The field with the mistake; empty for the request as a whole.
    package var path: String
    package var rule: String

    package init(_ status: Int, _ rule: String, path: String = "") {
        (self.status, self.rule, self.path) = (status, rule, path)
    }

    static func notFound(_ what: String) -> LiveError { LiveError(404, "there is no \(what)") }
    static func invalid(_ path: String, _ rule: String) -> LiveError { LiveError(400, rule, path: path) }

    /// Reads the body of an answer; a body of another form is taken as the rule.
    init(_ status: Int, body: Data) {
        do {
            let fields = try JSONDecoder().decode([String: [String: String]].self, from: body)["error"] ?? [:]
            self.init(status, fields["rule"] ?? "status \(status)", path: fields["path"] ?? "")
        } catch {
            self.init(status, "status \(status): \(String(decoding: body.prefix(200), as: UTF8.self))")
        }
    }

    /// The body of the answer: `{"error":{"path":"rssi","rule":"…"}}`.
    package var body: Data {
        do {
            return try ["error": ["path": path, "rule": rule]].jsonLine()
        } catch {
            preconditionFailure("texts are always JSON: \(error)")
        }
    }
}

/// The result of a command.
package struct LiveResult: Codable, Hashable, Sendable {
    /// The number of the last event when the command had taken effect.
    package var sequence: UInt64
    /// The number of the device that was added.
    package var id: UInt32?
}
