import BlueZ
import CBusClient
import Foundation
import Glibc

/// A private bus with a scripted BlueZ, which ends with the process.
final class ScriptedBus: @unchecked Sendable {
    // Invariant: `control` is used by one benchmark at a time; `client` is created under its lock.

    /// A process that did not start.
    struct StartError: Error {
        let what: String
    }

    let address: String
    private let notificationMethod: BlueZConfiguration.NotificationMethod
    private let processes: [pid_t]
    /// The C client, which also controls the daemon.
    let control: OpaquePointer
    private let lock = NSLock()
    private var connected: BlueZClient?

    init(devices: UInt32, notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify) throws {
        var buffer = [CChar](repeating: 0, count: 512)
        let daemon = bus_start_daemon(&buffer, buffer.count)
        address = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard daemon > 0 else { throw StartError(what: "dbus-daemon") }
        let service = bus_start_service(address)
        guard service > 0 else { throw StartError(what: "the daemon") }
        guard let control = bus_client_open(address) else { throw StartError(what: "the C client") }
        self.control = control
        self.notificationMethod = notificationMethod
        processes = [daemon, service]
        guard bus_client_populate(control, devices) != 0 else { throw StartError(what: "devices") }
    }

    /// The app, which connects at its first use.
    var client: BlueZClient {
        lock.withLock {
            if let connected { return connected }
            let client = BlueZClient(address, notificationMethod)
            client.connect()
            connected = client
            return client
        }
    }

    /// The nanoseconds of processor time that the bus and the daemon have used.
    var processorTime: Int {
        processes.reduce(0) { sum, process in
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return sum }
            return sum + time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
    }
}
