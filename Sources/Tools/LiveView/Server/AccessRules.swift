import BluetoothSupport

/// The rules of access: on a socket that only the user can open, every client; on loopback, clients with the token.
///
/// Other users of the machine lack the token. A web page of another site lacks it too, and cannot use another host name
/// (`Host`), another origin (`Origin`, `Sec-Fetch-Site`) or a form (`Content-Type`).
package struct AccessRules: Sendable {
    /// The longest header of a request, in bytes.
    package static let maximumHeaderLength = 16_384
    /// The longest body of a request, in bytes.
    package static let maximumBodyLength = 1_048_576

    /// The paths of the page, which are answered without the token.
    static let pagePaths = Set(PageFile.all.keys)

    /// The parts of a request that the rules examine.
    package struct Request: Sendable {
        package var method: String
        package var path: String
        /// The headers, by names in lower case.
        package var headers: [String: String]

        package init(_ method: String, _ path: String, _ headers: [String: String]) {
            (self.method, self.path, self.headers) = (method, path, headers)
        }
    }

    /// The token that a request must have; nil on a socket.
    private let token: String?
    private let port: UInt16

    /// The rules of a socket that only the user can open.
    package static let socket = AccessRules(token: nil, port: 0)

    /// Creates the rules of loopback.
    package init(token: String?, port: UInt16) { (self.token, self.port) = (token, port) }

    /// Returns the reason that a request is refused; nil if it is allowed.
    package func refusal(of request: Request) -> LiveError? {
        let headers = request.headers
        if headers.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 }) > Self.maximumHeaderLength {
            return LiveError(431, "the header has more than \(Self.maximumHeaderLength) bytes")
        }
        if let refusal = originRefusal(headers) { return refusal }
        if !Self.pagePaths.contains(request.path), !isAuthorized(headers["authorization"]) {
            return LiveError(401, "the token of the printed address is missing or wrong")
        }
        let mustBeJSON = ["POST", "PATCH", "PUT"].contains(request.method)
        let type = headers["content-type"]?.split(separator: ";").first?.lowercased()
        if mustBeJSON, type != "application/json" {
            return LiveError(415, "the body is application/json")
        }
        return nil
    }

    private func originRefusal(_ headers: [String: String]) -> LiveError? {
        guard token != nil else {
            // A browser cannot open a socket.
            return headers["origin"] == nil ? nil : LiveError(403, "a web page cannot ask here")
        }
        let hosts = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
        guard let host = headers["host"]?.lowercased(), hosts.contains(host) else {
            return LiveError(403, "the host is \(hosts[0])")
        }
        if let origin = headers["origin"], origin.lowercased() != "http://\(host)" {
            return LiveError(403, "another web page cannot ask here")
        }
        if let site = headers["sec-fetch-site"], !["same-origin", "none"].contains(site) {
            return LiveError(403, "another web page cannot ask here")
        }
        return nil
    }

    /// Whether a request with this `Authorization` field has the token; on a socket, every request is authorized.
    ///
    /// The duration does not depend on the position of the first difference.
    func isAuthorized(_ header: String?) -> Bool {
        guard let token else { return true }
        let (given, wanted) = (Array((header ?? "").utf8), Array("Bearer \(token)".utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns a token of 128 bits from the system's generator, in hexadecimal digits.
    package static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in Data([UInt8.random(in: .min ... .max, using: &generator)]).hexText }.joined()
    }
}
