#if os(Linux)
import Glibc

/// The directory of a private bus, which contains its socket and its configuration.
struct BusDirectory: Sendable {
    static let configurationName = "bus.conf"
    /// The socket name of a system bus, so that the directory can be mounted as `/run/dbus`.
    private static let socketName = "system_bus_socket"
    /// The length of `sun_path` of `unix(7)`, without the zero at its end.
    private static let longestSocketPath = 107

    let path: String

    /// Creates a directory of mode 0700 with a new name.
    init(below parent: String) throws(PrivateMessageBusError) {
        guard let absolute = realpath(parent, nil) else { throw .noDirectory("\(parent): \(Self.lastError)") }
        defer { free(absolute) }
        var template = Array("\(String(cString: absolute))/bluez-XXXXXX".utf8CString)
        let length = template.count - 1 + 1 + Self.socketName.utf8.count
        guard length <= Self.longestSocketPath else {
            throw .noDirectory(
                "\(parent): the path of the socket would be \(length) bytes long, and the limit is "
                    + "\(Self.longestSocketPath); set TMPDIR to a shorter path")
        }
        guard mkdtemp(&template) != nil else { throw .noDirectory("\(parent): \(Self.lastError)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes the configuration of `dbus-daemon`.
    func writeConfiguration() throws(PrivateMessageBusError) {
        let file = "\(path)/\(Self.configurationName)"
        let socket = "unix:path=" + DBusAddressText.escaped("\(path)/\(Self.socketName)")
        guard let stream = fopen(file, "wxe") else { throw .noDirectory("\(file): \(Self.lastError)") }
        let isWritten = fputs(BusConfiguration(listensAt: socket).text, stream) >= 0
        guard fclose(stream) == 0, isWritten else { throw .noDirectory("\(file): \(Self.lastError)") }
    }

    /// Removes the directory of a bus that has never listened.
    func remove() {
        unlink("\(path)/\(Self.configurationName)")
        unlink("\(path)/\(Self.socketName)")
        rmdir(path)
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

/// Text of addresses in the notation of the D-Bus Specification, "Server Addresses".
enum DBusAddressText {
    /// A value with `%` and two hexadecimal digits for each byte that must be escaped.
    static func escaped(_ value: String) -> String {
        let plain = Set("-0123456789_/.*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        let digits = Array("0123456789abcdef")
        return value.utf8.map { byte in
            plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
        .joined()
    }
}
#endif
