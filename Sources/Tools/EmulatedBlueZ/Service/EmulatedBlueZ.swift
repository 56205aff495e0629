#if os(Linux)
import BluetoothCapture
import BluetoothDBus
public import BluetoothEmulator
import Dispatch
import Logging

/// An emulated world as the service `org.bluez` on a message bus.
///
/// Unchanged programs that use BlueZ, in any language, see the hosts of the emulator as adapters (`hci0` and so on, in
/// the order of `Emulator.hosts`), and its devices on the air. Any thread may call any method.
///
/// Source: BlueZ, `doc/org.bluez.*.rst`.
public final class EmulatedBlueZ: Sendable {
    private let connection: DBusConnection
    private let runner: DaemonRunner
    /// The error of the service's end; nil after ``stop()``.
    private let end: Task<EmulatedBlueZError?, Never>
    private let finish: AsyncStream<EmulatedBlueZError?>.Continuation

    private init(_ emulator: Emulator, connection: DBusConnection, _ configuration: EmulatedBlueZConfiguration) {
        self.connection = connection
        runner = DaemonRunner(emulator, on: connection, configuration)
        let (ends, finish) = AsyncStream.makeStream(of: EmulatedBlueZError?.self)
        // Only the first end counts.
        end = Task { await ends.first { _ in true } ?? nil }
        self.finish = finish
        connection.onDisconnect { [finish, runner] error in
            runner.stop()
            finish.yield(.busLost(error.description))
        }
    }

    deinit { stop() }

    /// Serves an emulator as `org.bluez`; clients may start when this returns.
    ///
    /// The adapters are the present hosts of the emulator; hosts that are added later stay invisible to clients. The
    /// service ends with ``stop()``, with the last reference, or when the bus closes the connection.
    ///
    /// - Parameters:
    ///   - emulator: The world, in real or scaled time: clients in other processes cannot wait for virtual time.
    ///   - busAddress: The bus, in the notation of the D-Bus Specification (`unix:path=…`); nil takes the system bus:
    ///     `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
    ///   - configuration: The version of BlueZ, the delays and the limits.
    /// - Throws: ``EmulatedBlueZError``.
    public static func serve(
        _ emulator: Emulator, on busAddress: String? = nil,
        configuration: EmulatedBlueZConfiguration = EmulatedBlueZConfiguration()
    ) async throws(EmulatedBlueZError) -> EmulatedBlueZ {
        guard emulator.time != .virtual else { throw .virtualTime }
        EnvironmentCaptures.begin()
        let address = busAddress.map(DBusAddress.explicit) ?? .system
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try await DBusConnection.open(address, queue: DispatchQueue(label: "EmulatedBlueZ"))
        } catch {
            throw .busUnavailable(error.description)
        }
        let service = EmulatedBlueZ(emulator, connection: connection, configuration)
        // The name is claimed last: clients that wait for it find all objects.
        connection.queue.sync { service.runner.activate() }
        try await service.claimName()
        return service
    }

    private func claimName() async throws(EmulatedBlueZError) {
        let owned = await withCheckedContinuation { continuation in
            connection.requestName("org.bluez") { continuation.resume(returning: $0) }
        }
        switch owned {
        case .success(true): return
        case .success(false): throw .nameTaken
        case .failure(let error): throw .nameRefused(error.description)
        }
    }

    /// Leaves the bus; all sessions, links and registrations of clients end.
    public func stop() {
        connection.queue.async { [runner, finish] in
            runner.stop()
            finish.yield(nil)
        }
    }

    /// Waits until the service ends.
    ///
    /// - Throws: ``EmulatedBlueZError/busLost(_:)`` if the bus closed the connection.
    public func waitUntilEnd() async throws(EmulatedBlueZError) {
        if let error = await end.value { throw error }
    }
}

/// The reason why a world is not served, or no longer.
public enum EmulatedBlueZError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bus does not accept the connection.
    case busUnavailable(String)
    /// Another program owns `org.bluez`: a real `bluetoothd`, or another emulated one.
    case nameTaken
    /// The policy of the bus does not let this program own `org.bluez`.
    case nameRefused(String)
    /// The bus closed the connection.
    case busLost(String)
    /// The emulator's time is virtual.
    case virtualTime

    /// The reason as a sentence.
    public var description: String {
        switch self {
        case .busUnavailable(let error): "the message bus is not available: \(error)"
        case .nameTaken: "another program owns the name org.bluez on this bus"
        case .nameRefused(let error): "the bus does not let this program own the name org.bluez: \(error)"
        case .busLost(let error): "the message bus is gone: \(error)"
        case .virtualTime: "an emulator in virtual time cannot serve other processes; use real or scaled time"
        }
    }
}
#endif
