#if BlueZ && os(Linux)
import BluetoothDBus
import Dispatch
import Foundation

/// The process that owns a name on a message bus.
struct BusNameOwner: CustomStringConvertible {
    let process: UInt32
    /// The name of the process's program; nil if `/proc` does not show it.
    let program: String?

    /// `bluetoothd, process 812`.
    var description: String { (program.map { "\($0), " } ?? "") + "process \(process)" }

    /// Queries the bus; returns nil if it does not know, or the owner has left.
    static func find(_ name: String, at address: DBusAddress, limit: Duration) async -> BusNameOwner? {
        let opened = await withCheckedContinuation { continuation in
            DBusConnection.open(address, queue: DispatchQueue(label: "bluectl.owner"), deadline: limit) {
                continuation.resume(returning: $0)
            }
        }
        // The caller reports that the name is taken; without an answer, only the detail is missing.
        guard case .success(let connection) = opened, let path = ObjectPath("/org/freedesktop/DBus") else { return nil }
        defer { connection.close() }
        let reply = try? await connection.call(
            to: "org.freedesktop.DBus", path: path, interface: "org.freedesktop.DBus",
            member: "GetConnectionUnixProcessID", [.string(name)], deadline: limit)
        guard let process = reply?.first?.uint32Value else { return nil }
        let file = FileManager.default.contents(atPath: "/proc/\(process)/comm")
        let program = file.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
        return BusNameOwner(process: process, program: program.flatMap { $0.isEmpty ? nil : $0 })
    }
}
#endif
