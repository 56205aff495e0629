import CBusClient
import Foundation

/// A bus of its own with a scripted BlueZ on it, which ends with the process.
final class ScriptedBus: @unchecked Sendable {
    // Invariant: `control` is used by one benchmark at a time; `client` is made under its lock.

    /// Something did not start.
    struct StartError: Error {
        let what: String
    }

    let address: String
    /// The C client, which also controls the daemon.
    let control: OpaquePointer
    private let lock = NSLock()
    private var connected: BlueZClient?

    init(devices: UInt32) throws {
        var buffer = [CChar](repeating: 0, count: 512)
        let daemon = bus_start_daemon(&buffer, buffer.count)
        address = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard daemon > 0 else { throw StartError(what: "dbus-daemon") }
        let service = bus_start_service(address)
        guard service > 0 else { throw StartError(what: "the daemon") }
        guard let control = bus_client_open(address) else { throw StartError(what: "the C client") }
        self.control = control
        guard bus_client_populate(control, devices) != 0 else { throw StartError(what: "devices") }
    }

    /// The app, which the first use connects.
    var client: BlueZClient {
        lock.withLock {
            if let connected { return connected }
            let client = BlueZClient(address)
            client.connect()
            connected = client
            return client
        }
    }
}
