#if os(Linux)
import Foundation

/// What the kernel's and the system's files tell.
enum SystemFacts {
    /// The controllers that the kernel has, sorted.
    static func controllers(in folder: String = "/sys/class/bluetooth") -> [String] {
        // Links (`hci0:64`) stand beside the controllers.
        names(in: folder).filter { $0.hasPrefix("hci") && !$0.contains(":") }
    }

    /// The kernel's switches for Bluetooth.
    static func switches(in folder: String = "/sys/class/rfkill") -> [SystemReport.RadioSwitch] {
        names(in: folder).compactMap { entry in
            let path = "\(folder)/\(entry)"
            guard text("\(path)/type") == "bluetooth" else { return nil }
            return SystemReport.RadioSwitch(
                name: text("\(path)/name") ?? entry, isSoftBlocked: text("\(path)/soft") == "1",
                isHardBlocked: text("\(path)/hard") == "1")
        }
    }

    /// The groups of this process, by name.
    static func groups() -> [String] {
        var identifiers = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(identifiers.count), &identifiers)
        let own = identifiers.prefix(Int(max(0, count))) + [getegid()]
        return Set(own).map(groupName).sorted()
    }

    /// Whether the system has a group of this name.
    static func hasGroup(_ name: String) -> Bool { getgrnam(name) != nil }

    /// The user's name, or number.
    static func user() -> String {
        guard let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name else { return "\(geteuid())" }
        return String(cString: name)
    }

    private static func groupName(_ identifier: gid_t) -> String {
        guard let entry = getgrgid(identifier), let name = entry.pointee.gr_name else { return "\(identifier)" }
        return String(cString: name)
    }

    /// The entries of a folder; none where it does not exist: then the kernel has none of the kind.
    private static func names(in folder: String) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.sorted()
    }

    /// The first line of a file of the kernel; nil where it cannot be read.
    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map { String($0) }
    }
}
#endif
