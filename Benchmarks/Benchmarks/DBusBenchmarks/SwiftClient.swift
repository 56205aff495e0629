import BluetoothDBus
import CBusClient
import Dispatch

/// The work of the C client, with this project's D-Bus client.
final class SwiftClient: @unchecked Sendable {
    // Invariant: variables are used only on the connection's queue.
    private let connection: DBusConnection
    private let path: ObjectPath
    private let done = DispatchSemaphore(value: 0)
    private var toStart = 0
    private var toFinish = 0
    private var bytes = 0

    init(_ address: String) throws {
        guard let path = ObjectPath(BUS_PATH) else { throw PrivateBus.StartError(what: "the path") }
        self.path = path
        nonisolated(unsafe) var opened: Result<DBusConnection, DBusError>?
        let done = done
        DBusConnection.open(.explicit(address), queue: DispatchQueue(label: "benchmark")) {
            opened = $0
            done.signal()
        }
        done.wait()
        guard let opened else { throw PrivateBus.StartError(what: "the Swift client") }
        connection = try opened.get()
    }

    deinit { connection.close() }

    func call(count: Int, inFlight: Int) -> Int {
        connection.queue.async { [self] in
            bytes = 0
            toStart = count
            toFinish = count
            for _ in 0..<inFlight { startRead() }
        }
        done.wait()
        return connection.queue.sync { bytes }
    }

    private func startRead() {
        guard toStart > 0 else { return }
        toStart -= 1
        do {
            let call = try DBusMessage.methodCall(
                to: BUS_SERVICE, path: path, interface: BUS_INTERFACE, member: "Read", [.properties([:])])
            connection.call(call, deadline: .seconds(25)) { [self] in finish($0) }
        } catch {
            preconditionFailure("\(error)")
        }
    }

    private func finish(_ reply: Result<DBusMessage, DBusError>) {
        do {
            var body = DBusReader(try reply.get())
            bytes += try body.bytes().count
        } catch {
            preconditionFailure("\(error)")
        }
        toFinish -= 1
        startRead()
        if toFinish == 0 { done.signal() }
    }

    func listen(count: Int, perSecond: Int) -> Int {
        let rule = DBusMatchRule(
            sender: BUS_SERVICE, pathNamespace: ObjectPath("/org/bluez"),
            interface: "org.freedesktop.DBus.Properties")
        connection.queue.sync {
            bytes = 0
            toFinish = count
        }
        let subscription = connection.subscribe(rule) { [self] in receive($0) }
        do {
            let call = try DBusMessage.methodCall(
                to: BUS_SERVICE, path: path, interface: BUS_INTERFACE, member: "Emit",
                [.uint32(UInt32(count)), .uint32(UInt32(perSecond))])
            call.suppressReply()
            try connection.send(call)
        } catch {
            preconditionFailure("\(error)")
        }
        done.wait()
        subscription.cancel()
        return connection.queue.sync { bytes }
    }

    /// Reads a signal as the mirror of BlueZ's objects does.
    private func receive(_ message: DBusMessage) {
        guard message.isSignal("org.freedesktop.DBus.Properties", "PropertiesChanged") else { return }
        do {
            var body = DBusReader(message)
            guard try body.string() == BUS_INTERFACE else { return }
            let changed = try body.properties()
            _ = try body.strings()
            bytes += changed["Value"]?.bytesValue?.count ?? 0
        } catch {
            preconditionFailure("\(error)")
        }
        toFinish -= 1
        if toFinish == 0 { done.signal() }
    }
}
