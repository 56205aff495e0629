#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import Dispatch
import FoundationEssentials
import Glibc

/// Keeps what managers with a restore identifier have, in a file each.
///
/// `$XDG_STATE_HOME/swift-corebluetooth/PROGRAM-HASH/`, where the variable defaults to `~/.local/state`, PROGRAM
/// is the executable's name, and HASH is made of its whole path: programs of one name do not share what they keep. Only
/// the user can read the files. One is written whole, and put in place of the other once it is on the disk. A file that is
/// not the user's own, is no regular file, or is larger than a mebibyte is not read; what is in it is believed only as far
/// as it makes sense.
///
/// Source: XDG Base Directory Specification, 0.8.
final class PreservationStore: Sendable {
    /// Nil where the process has no home.
    private let folder: String?
    private let queue = DispatchQueue(label: "BlueZ.preservation")
    private let synchronize: Synchronize

    /// Brings a file or a folder to the disk, as `fsync(2)`.
    typealias Synchronize = @Sendable (CInt) -> CInt

    /// - Parameters:
    ///   - folder: Where the files are; it need not exist.
    ///   - synchronize: What a test watches.
    init(
        folder: String? = PreservationStore.defaultFolder, synchronize: @escaping Synchronize = { fsync($0) }
    ) {
        self.folder = folder
        self.synchronize = synchronize
    }

    /// By the environment, and by the path of the program.
    static var defaultFolder: String? {
        func variable(_ name: String) -> String? {
            // The specification wants relative paths ignored.
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        var program = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &program, program.count)
        guard let state, count > 0 else { return nil }
        return "\(state)/swift-corebluetooth/\(name(ofProgram: text(program.prefix(count))))"
    }

    /// Decodes C's characters as UTF-8.
    ///
    /// `CChar` is signed on x86-64, and unsigned on arm64.
    static func text(_ characters: some Collection<CChar>) -> String {
        String(decoding: characters.lazy.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    /// The name of a program's folder.
    ///
    /// - Parameter path: As the kernel reports it: it adds a word where the file was replaced, as an update does.
    static func name(ofProgram path: String) -> String {
        let deleted = " (deleted)"
        let path = path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
        let base = path.split(separator: "/").last ?? "program"
        return "\(base)-\(Data(SHA1.digest(of: Array(path.utf8)).prefix(8)).hexText.lowercased())"
    }

    /// An identifier may be any text, and a file's name not.
    private func path(_ identifier: String) -> String? {
        folder.map { "\($0)/\(Data(SHA1.digest(of: Array(identifier.utf8))).hexText.lowercased()).json" }
    }

    /// The size of the largest file that is read or written, in bytes: a thousand peers take a fifth of it.
    static let largestFile = 1 << 20

    // MARK: Use, any thread

    /// What an earlier process left under an identifier; nil for nothing.
    ///
    /// Waits for what was to be saved before.
    func load(_ identifier: String) -> PreservedCentral? {
        guard let path = path(identifier) else { return nil }
        return queue.sync {
            do {
                return try read(path).map { try JSONDecoder().decode(PreservedCentral.self, from: $0) }
            } catch {
                // The text may repeat what is in the file.
                BlueZLog.warning("\(path) makes no sense, and nothing is restored: \("\(error)".prefix(200))")
                return nil
            }
        }
    }

    /// Reads a file without waiting for anything; nil where there is none.
    private func read(_ path: String) throws -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path: path, reason: Self.lastError)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(path: path, reason: Self.lastError) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_size <= Self.largestFile else {
            throw Failure(
                path: path, reason: "it is no regular file of this user with at most \(Self.largestFile) bytes")
        }
        var data = Data(count: Int(status.st_size))
        var length = 0
        while length < data.count {
            let count = data.withUnsafeMutableBytes { bytes in
                Glibc.read(file, bytes.baseAddress?.advanced(by: length), bytes.count - length)
            }
            guard count >= 0 || errno == EINTR else { throw Failure(path: path, reason: Self.lastError) }
            if count == 0 { break }
            length += max(count, 0)
        }
        return data.prefix(length)
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
        guard data.count <= Self.largestFile else {
            throw Failure(path: path, reason: "it would have more than \(Self.largestFile) bytes")
        }
        let new = "\(path).\(getpid())"
        // One that an ended process left has a mode of its own.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(path: new, reason: Self.lastError) }
        // Without it a crash of the machine may leave the new name and no content.
        let isWritten = write(data, to: file) && synchronize(file) == 0
        let failure = isWritten ? nil : Failure(path: path, reason: Self.lastError)
        guard close(file) == 0, isWritten, rename(new, path) == 0 else {
            let failure = failure ?? Failure(path: path, reason: Self.lastError)
            unlink(new)
            throw failure
        }
        try synchronizeFolder()
    }

    private func write(_ data: Data, to file: CInt) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 || (count < 0 && errno == EINTR) else { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }

    /// The new name is on the disk, too.
    private func synchronizeFolder() throws {
        guard let folder else { return }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(path: folder, reason: Self.lastError) }
        defer { close(descriptor) }
        guard synchronize(descriptor) == 0 else { throw Failure(path: folder, reason: Self.lastError) }
    }

    private struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path): \(reason)" }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
#endif
