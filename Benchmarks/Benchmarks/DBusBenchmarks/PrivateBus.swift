import CBusClient

/// A private bus with the benchmark's service.
final class PrivateBus: Sendable {
    /// A process that did not start.
    struct StartError: Error {
        let what: String
    }

    /// The bus of all benchmarks of this process, with which it ends.
    static let shared = Result { try PrivateBus() }

    let address: String

    init() throws {
        var buffer = [CChar](repeating: 0, count: 512)
        let daemon = bus_start_daemon(&buffer, buffer.count)
        address = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard daemon > 0 else { throw StartError(what: "dbus-daemon") }
        let service = bus_start_service(address)
        guard service > 0 else { throw StartError(what: "the service") }
    }

    func openClient() throws -> OpaquePointer {
        guard let client = bus_client_open(address) else { throw StartError(what: "the C client") }
        return client
    }
}
