import CBusClient
import Glibc

/// A bus of its own with the benchmark's service on it.
final class PrivateBus {
    /// Something did not start.
    struct StartError: Error {
        let what: String
    }

    let address: String
    private var processes: [pid_t] = []

    init() throws {
        var buffer = [CChar](repeating: 0, count: 512)
        let daemon = bus_start_daemon(&buffer, buffer.count)
        address = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard daemon > 0 else { throw StartError(what: "dbus-daemon") }
        processes.append(daemon)
        let service = bus_start_service(address)
        guard service > 0 else { throw StartError(what: "the service") }
        processes.append(service)
    }

    deinit {
        for process in processes.reversed() {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
    }

    func openClient() throws -> OpaquePointer {
        guard let client = bus_client_open(address) else { throw StartError(what: "the C client") }
        return client
    }
}
