import Foundation

/// The state of the system, as far as it affects BlueZ.
///
/// Unknown properties are nil.
struct SystemReport: Equatable, Sendable {
    /// The outcome of a call to the bus or the daemon.
    enum Answer: Equatable, Sendable {
        case yes
        /// The D-Bus error's name and text.
        case error(name: String, message: String)

        /// Whether a policy forbids the call.
        var isDenied: Bool {
            guard case .error(let name, _) = self else { return false }
            return name.hasSuffix(".AccessDenied") || name.hasSuffix(".AuthFailed")
        }

        /// Whether the bus closed the connection after it had accepted the user's identity.
        var isClosed: Bool {
            guard case .error(let name, _) = self else { return false }
            return name.hasSuffix(".Disconnected")
        }

        /// Whether libdbus-1 is not installed.
        var isLibraryMissing: Bool {
            guard case .error(let name, _) = self else { return false }
            return name.hasSuffix(".NotSupported")
        }

        /// The reason that the bus is unreachable, as in the backend's log.
        var busProblem: String {
            isDenied
                ? "the message bus refuses this process"
                : isLibraryMissing ? "the message bus cannot be used" : "no message bus"
        }

        /// The error in one line; nil without an error.
        var text: String? {
            guard case .error(let name, let message) = self else { return nil }
            return PrintableText.of(message.isEmpty ? name : "\(name): \(message)")
        }
    }

    /// An adapter as `org.bluez` shows it.
    struct Adapter: Equatable, Sendable {
        /// The name, such as `hci0`.
        var name: String
        var address: String?
        /// The name that other devices see.
        var alias: String?
        var isPowered: Bool?
        /// The adapter's `PowerState`, such as `off-blocked`; nil if the daemon does not report it.
        var powerState: String?
        var isDiscovering: Bool?
        /// One of `central`, `peripheral`, `central-peripheral`; nil before BlueZ 5.55.
        var roles: [String]?
        var interfaces: Set<String> = []
        var properties: Set<String> = []
        /// The version of the daemon, such as `5.66`; nil if the adapter does not show it.
        var daemonVersion: String?
        /// Whether this version crashes when a device matches the services that a program scans for.
        var crashesOnServiceFilter = false
    }

    /// An rfkill switch of the kernel, which can block an adapter.
    struct KillSwitch: Equatable, Sendable {
        var name: String
        var isSoftBlocked: Bool
        var isHardBlocked: Bool
    }

    struct User: Equatable, Sendable {
        var name: String
        var isRoot: Bool
        var groups: [String]
        var systemHasBluetoothGroup: Bool
    }

    var busAddress: String
    /// Whether the system bus accepted the connection.
    var bus: Answer
    /// Whether `org.bluez` has an owner; nil if the bus was not reached.
    var daemon: Answer?
    var daemonProcess: UInt32?
    /// Whether the bus can start the daemon by itself.
    var isActivatable: Bool?
    /// Whether the daemon lists its objects; nil if it was not queried.
    var objects: Answer?
    var adapters: [Adapter] = []
    /// The devices of all adapters.
    var devices: [KnownDevice] = []
    /// The controllers of the kernel, such as `hci0`.
    var kernelControllers: [String] = []
    var switches: [KillSwitch] = []
    var user: User
    /// Whether `dbus-daemon` is installed, which only `bluectl world` needs; nil if this build has no such command.
    var hasBusProgram: Bool?
}

#if os(Linux)
/// The facts in files of the kernel and the system.
enum SystemFacts {
    /// Returns the controllers of the kernel, sorted.
    static func controllers(in folder: String = "/sys/class/bluetooth") -> [String] {
        // The folder also lists links (`hci0:64`).
        names(in: folder).filter { $0.hasPrefix("hci") && !$0.contains(":") }
    }

    /// Returns the kernel's switches for Bluetooth.
    static func switches(in folder: String = "/sys/class/rfkill") -> [SystemReport.KillSwitch] {
        names(in: folder).compactMap { entry in
            let path = "\(folder)/\(entry)"
            guard text("\(path)/type") == "bluetooth" else { return nil }
            return SystemReport.KillSwitch(
                name: text("\(path)/name") ?? entry, isSoftBlocked: text("\(path)/soft") == "1",
                isHardBlocked: text("\(path)/hard") == "1")
        }
    }

    /// Returns the groups of this process, by name.
    static func groups() -> [String] {
        var identifiers = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(identifiers.count), &identifiers)
        let own = identifiers.prefix(Int(max(0, count))) + [getegid()]
        return Set(own).map(groupName).sorted()
    }

    static func hasGroup(_ name: String) -> Bool { getgrnam(name) != nil }

    /// Returns the user's name, or number.
    static func user() -> String {
        guard let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name else { return "\(geteuid())" }
        return String(cString: name)
    }

    private static func groupName(_ identifier: gid_t) -> String {
        guard let entry = getgrgid(identifier), let name = entry.pointee.gr_name else { return "\(identifier)" }
        return String(cString: name)
    }

    /// Returns the entries of a folder; none if it does not exist, as the kernel then has none of the kind.
    private static func names(in folder: String) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.sorted()
    }

    /// Returns the first line of a file of the kernel; nil if it cannot be read.
    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map { String($0) }
    }
}
#endif
