import Testing

@testable import LiveView

/// The rules of access to a world.
@Suite struct AccessRulesTests {
    private static let token = AccessRules.makeToken()
    private let rules = AccessRules(token: token, port: 8080)

    private func refusal(
        _ method: String = "GET", _ path: String = "/v1/world", changes: [String: String?] = [:]
    ) -> Int? {
        var headers = ["host": "127.0.0.1:8080", "authorization": "Bearer \(Self.token)"]
        for (name, value) in changes { headers[name] = value }
        return rules.refusal(of: AccessRules.Request(method, path, headers))?.status
    }

    @Test func theTokenHas128BitsAndIsAnotherEachTime() {
        #expect(Self.token.count == 32)
        #expect(AccessRules.makeToken() != Self.token)
    }

    @Test func onlyThePageNeedsNoToken() {
        #expect(refusal() == nil)
        #expect(refusal(changes: ["authorization": nil]) == 401)
        #expect(refusal(changes: ["authorization": "Bearer \(Self.token.dropLast())0x"]) == 401)
        #expect(refusal(changes: ["authorization": Self.token]) == 401)
        for path in ["/", "/view.css", "/view.js", "/map.js", "/view.svg"] {
            #expect(refusal("GET", path, changes: ["authorization": nil]) == nil)
        }
        #expect(refusal("GET", "/view.js/../v1/world", changes: ["authorization": nil]) == 401)
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
    func theHostIsThisMachine(host: String) { #expect(refusal(changes: ["host": host]) == nil) }

    @Test(arguments: ["rebound.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8080.example", ""])
    func anotherHostIsRefusedForThePageToo(host: String) {
        #expect(refusal("GET", "/", changes: ["host": host]) == 403)
        #expect(refusal(changes: ["host": nil]) == 403)
    }

    @Test func anotherOriginIsRefused() {
        #expect(refusal(changes: ["origin": "http://127.0.0.1:8080"]) == nil)
        #expect(refusal(changes: ["origin": "http://localhost:8080"]) == 403)
        #expect(refusal(changes: ["origin": "https://127.0.0.1:8080"]) == 403)
        #expect(refusal(changes: ["origin": "null"]) == 403)
        #expect(refusal(changes: ["sec-fetch-site": "cross-site"]) == 403)
        #expect(refusal(changes: ["sec-fetch-site": "same-site"]) == 403)
        #expect(refusal(changes: ["sec-fetch-site": "same-origin"]) == nil)
    }

    @Test func aFormCannotCommand() {
        #expect(refusal("POST", changes: ["content-type": "application/x-www-form-urlencoded"]) == 415)
        #expect(refusal("PATCH", changes: ["content-type": "text/plain"]) == 415)
        #expect(refusal("POST") == 415)
        #expect(refusal("POST", changes: ["content-type": "application/json; charset=utf-8"]) == nil)
    }

    @Test func aLongHeaderIsRefused() {
        #expect(refusal(changes: ["x": String(repeating: "a", count: 17_000)]) == 431)
    }

    @Test func noWebPageAsksOnASocket() {
        let page = AccessRules.Request("GET", "/v1/world", ["origin": "http://localhost"])
        #expect(AccessRules.socket.refusal(of: page)?.status == 403)
        #expect(AccessRules.socket.refusal(of: AccessRules.Request("GET", "/v1/world", [:])) == nil)
    }
}
