import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

// The commands of hosts: `/v1/hosts/0`, and `/v1/hosts/0/reset`.
extension LiveWorld {
    func answerHosts(_ request: LiveRequest, _ parts: [Substring]) async throws(LiveError) -> LiveAnswer {
        let host = try host(parts[0])
        switch (request.method, parts.count, parts.last) {
        case ("PATCH", 1, _): try change(host, request.body)
        case ("POST", 2, "reset"):
            _ = try CommandFields(request.body)
            host.reset()
            add("\(source(of: host)).reset()")
        default: throw .notFound("\(request.method) \(request.path)")
        }
        return try await done()
    }

    func host(_ text: Substring) throws(LiveError) -> EmulatedHost {
        guard let number = Int(text), let host = emulator.hosts.first(where: { $0.index == number }) else {
            throw .notFound("host \(text)")
        }
        return host
    }

    private func change(_ host: EmulatedHost, _ body: Data) throws(LiveError) {
        let fields = try CommandFields(body, "powered", "plugged", "authorization")
        let isPowered: Bool? = try fields.value("powered")
        let isPlugged: Bool? = try fields.value("plugged")
        let name: String? = try fields.value("authorization")
        let authorization = name.flatMap { AuthorizationStatus(rawValue: $0) }
        if name != nil, authorization == nil {
            throw .invalid("authorization", "the permissions are notDetermined, restricted, denied, allowed")
        }
        if let isPlugged {
            host.setPlugged(isPlugged)
            add("\(source(of: host)).setPlugged(\(isPlugged))")
        }
        if let isPowered {
            host.setPower(isPowered)
            add("\(source(of: host)).setPower(\(isPowered))")
        }
        if let authorization {
            host.setAuthorization(authorization)
            add("\(source(of: host)).setAuthorization(.\(authorization))")
        }
    }

    /// Adds a statement to the test of the manual actions.
    func add(_ statement: String) { record.add(statement, at: emulator.now) }

    /// Returns the source of a host in a test.
    func source(of host: EmulatedHost) -> String {
        host.name == "default" ? "emulator.host" : "emulator.hosts[\(host.index)]"
    }
}
