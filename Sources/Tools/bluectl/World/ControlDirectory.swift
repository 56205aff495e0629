#if Emulator && os(Linux)
import Foundation
import BluetoothSupport
import Logging

/// The directory of a served world's control socket and files: one for each process, accessible only to the user.
///
/// It is `bluectl/PROCESS` in `XDG_RUNTIME_DIR`, or `/tmp/bluectl-USER/PROCESS` if the variable is not set.
struct ControlDirectory {
    private static let socketName = "control.sock"

    /// The path of the process's directory.
    let path: String

    /// The name of the control socket.
    var socket: String { path + "/" + Self.socketName }

    /// Creates the directory of this process.
    ///
    /// - Throws: A failure if the directory around it is accessible to other users.
    init() throws(Failure) {
        let base = Self.base
        try Self.make(base)
        path = base + "/\(getpid())"
        // The directory may be left from an earlier process of this number.
        Self.remove(path)
        try Self.make(path)
    }

    /// Removes the directory with its contents.
    func remove() { Self.remove(path) }

    /// Returns the sockets of all worlds that the user serves, with the numbers of their processes; removes those whose
    /// process has ended.
    static func sockets() throws(Failure) -> [(process: Int32, socket: String)] {
        try check(base)
        var found: [(Int32, String)] = []
        for name in names(in: base) {
            guard let process = Int32(name) else { continue }
            if kill(process, 0) != 0, errno == ESRCH {
                remove(base + "/" + name)
            } else {
                found.append((process, base + "/\(name)/" + socketName))
            }
        }
        return found.sorted { $0.0 < $1.0 }
    }

    private static var base: String {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
        return runtime.isEmpty ? "/tmp/bluectl-\(getuid())" : runtime + "/bluectl"
    }

    private static func names(in directory: String) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            // The directory does not exist: no world was served yet.
            return []
        }
    }

    private static func make(_ directory: String) throws(Failure) {
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw Failure(.failed, "\(directory): \(String(cString: strerror(errno)))")
        }
        try check(directory)
    }

    /// Refuses a directory that another user created or may enter, and a link to one.
    private static func check(_ directory: String) throws(Failure) {
        var status = stat()
        guard lstat(directory, &status) == 0 else {
            if errno == ENOENT { return }
            throw Failure(.failed, "\(directory): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(.failed, "\(directory) must be a directory that is yours alone (mode 0700)")
        }
    }

    private static func remove(_ directory: String) {
        guard FileManager.default.fileExists(atPath: directory) else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Logger(label: "bluectl").line(.warning, "\(directory) was not removed: \(error)")
        }
    }
}
#endif
