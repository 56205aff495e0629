#if os(Linux)
import BluetoothBackend
import Dispatch
import FoundationEssentials
import Glibc

/// Keeps what managers with a restore identifier have, in a file each.
///
/// `$XDG_STATE_HOME/swift-corebluetooth/PROGRAM/`, where `~/.local/state` stands for a variable that is not set. Only the
/// user can read the files. One is written whole, and put in place of the other; what is in it is believed only as far as
/// it makes sense.
///
/// Source: XDG Base Directory Specification, 0.8.
final class PreservationStore: Sendable {
    /// Nil where the process has no home.
    private let folder: String?
    private let queue = DispatchQueue(label: "BlueZ.preservation")

    /// - Parameter folder: Where the files are; it need not exist.
    init(folder: String? = PreservationStore.defaultFolder) { self.folder = folder }

    /// By the environment, and by the name of the program.
    static var defaultFolder: String? {
        func variable(_ name: String) -> String? {
            // The specification wants relative paths ignored.
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        var program = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard let state, readlink("/proc/self/exe", &program, program.count - 1) > 0 else { return nil }
        let path = String(decoding: program.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "\(state)/swift-corebluetooth/\(path.split(separator: "/").last ?? "program")"
    }

    /// An identifier may be any text, and a file's name not.
    private func path(_ identifier: String) -> String? {
        let digits = SHA1.digest(of: Array(identifier.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return folder.map { "\($0)/\(digits.joined()).json" }
    }

    // MARK: Use, any thread

    /// What an earlier process left under an identifier; nil for nothing.
    ///
    /// Waits for what was to be saved before.
    func load(_ identifier: String) -> PreservedCentral? {
        guard let path = path(identifier) else { return nil }
        return queue.sync {
            guard let data = FileManager.default.contents(atPath: path) else { return nil }
            do {
                return try JSONDecoder().decode(PreservedCentral.self, from: data)
            } catch {
                BlueZLog.warning("\(path) makes no sense, and nothing is restored: \(error)")
                return nil
            }
        }
    }

    /// Keeps something under an identifier; nil: nothing any more.
    func save(_ state: PreservedCentral?, for identifier: String) {
        guard let path = path(identifier) else { return }
        queue.async { [self] in
            do {
                if let state { try write(JSONEncoder().encode(state), to: path) } else { remove(path) }
            } catch {
                BlueZLog.warning("state for restoration is not kept: \(error)")
            }
        }
    }

    private func remove(_ path: String) {
        if unlink(path) != 0, errno != ENOENT { BlueZLog.warning("\(path) stays: \(Self.lastError)") }
    }

    private func write(_ data: Data, to path: String) throws {
        if let folder {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let new = "\(path).\(getpid())"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(path: new, reason: Self.lastError) }
        let isWritten = data.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == data.count
        guard close(file) == 0, isWritten, rename(new, path) == 0 else {
            let failure = Failure(path: path, reason: Self.lastError)
            unlink(new)
            throw failure
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path): \(reason)" }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
#endif
