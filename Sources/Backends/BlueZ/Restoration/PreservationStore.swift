#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import Dispatch
import FoundationEssentials
import Glibc

/// A store for the state of managers with a restore identifier, one file for each.
///
/// The folder is `$XDG_STATE_HOME/swift-corebluetooth/PROGRAM-HASH/`. The variable defaults to `~/.local/state`,
/// PROGRAM is the executable's name, and HASH is computed from its whole path, so programs of the same name have
/// separate files. Only the user can read the files. A new file is written completely, and replaces the old one once it
/// is on the disk. A file that another user owns, that is not a regular file, or that is larger than a mebibyte is not
/// read. Its contents are validated.
///
/// Source: XDG Base Directory Specification, 0.8.
final class PreservationStore: Sendable {
    /// The folder; nil if the process has no home.
    private let folder: String?
    private let queue = DispatchQueue(label: "BlueZ.preservation")
    private let synchronize: Synchronize

    /// Writes a file or a folder to the disk, as `fsync(2)` does.
    typealias Synchronize = @Sendable (CInt) -> CInt

    /// - Parameters:
    ///   - folder: The folder of the files, which need not exist.
    ///   - synchronize: Replaced by tests.
    init(
        folder: String? = PreservationStore.defaultFolder, synchronize: @escaping Synchronize = { fsync($0) }
    ) {
        self.folder = folder
        self.synchronize = synchronize
    }

    /// The folder that the environment and the path of the program determine.
    static var defaultFolder: String? {
        func variable(_ name: String) -> String? {
            // The specification demands that relative paths are ignored.
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

    /// Returns the name of a program's folder.
    ///
    /// - Parameter path: The path from the kernel, which appends a word if the file was replaced, by an update for
    ///   instance.
    static func name(ofProgram path: String) -> String {
        let deleted = " (deleted)"
        let path = path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
        let base = path.split(separator: "/").last ?? "program"
        return "\(base)-\(Data(SHA1.digest(of: Array(path.utf8)).prefix(8)).hexText.lowercased())"
    }

    /// Returns the path of an identifier's file; a hash, because an identifier may contain any character.
    private func path(_ identifier: String) -> String? {
        folder.map { "\($0)/\(Data(SHA1.digest(of: Array(identifier.utf8))).hexText.lowercased()).json" }
    }

    /// The size limit of a file, in bytes; a thousand peers need a fifth of it.
    static let largestFile = 1 << 20

    // MARK: Use, any thread

    /// Reads the state of an earlier process under an identifier, after earlier saves.
    ///
    /// - Parameter completion: Called with the state, or with nil if there is none; on a queue of the store, or inline if
    ///   the process has no home.
    func load(_ identifier: String, _ completion: @escaping @Sendable (PreservedCentral?) -> Void) {
        guard let path = path(identifier) else { return completion(nil) }
        queue.async { [self] in completion(decode(path)) }
    }

    private func decode(_ path: String) -> PreservedCentral? {
        do {
            return try JSONDecoder().decode(PreservedCentral.self, from: read(path))
        } catch let error as InputFileError where error.isMissing {
            return nil
        } catch {
            // The text may repeat what is in the file.
            BlueZLog.warning("\(path) makes no sense, and nothing is restored: \("\(error)".prefix(200))")
            return nil
        }
    }

    /// Reads a file without blocking on a pipe or a device.
    private func read(_ path: String) throws -> Data {
        let file = try InputFile(path, flags: O_NOFOLLOW | O_NONBLOCK)
        guard file.isRegularFileOfUser else { throw Failure(path: path, reason: "it is no regular file of this user") }
        return Data(try file.contents(atMost: Self.largestFile))
    }

    /// Stores the state under an identifier; nil removes it.
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
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard data.count <= Self.largestFile else {
            throw Failure(path: path, reason: "it would have more than \(Self.largestFile) bytes")
        }
        // Without the synchronization, a crash of the machine may leave the new name without contents.
        try OutputFile.replace(path, with: Array(data), partial: "\(path).\(getpid())", synchronize: synchronize)
        try synchronizeFolder(folder)
    }

    /// Writes the folder to the disk, so that the new name is there, too.
    private func synchronizeFolder(_ folder: String) throws {
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
