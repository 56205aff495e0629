import BluetoothSupport

/// The folder of a world file, which must contain all files that the world file names.
struct WorldFolder: Sendable {
    /// The folder's path, with symbolic links resolved.
    private let path: String

    /// - Parameter file: The path of the world file.
    init(ofFile file: String) { path = URL(fileURLWithPath: Self.resolved(file)).deletingLastPathComponent().path }

    /// Whether a file is in the folder or below it, with symbolic links resolved.
    func contains(_ file: String) -> Bool {
        Self.resolved(file).hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    /// The path of a file, with symbolic links resolved.
    static func resolved(_ file: String) -> String {
        URL(fileURLWithPath: file).resolvingSymlinksInPath().standardizedFileURL.path
    }

    /// The part of a path that names the folder, with its slash.
    static func name(of file: String) -> String { file.lastIndex(of: "/").map { String(file[...$0]) } ?? "" }
}

/// The reason for which a file that another file names is not read.
enum NamedFileProblem: Error {
    case notRegular
    case tooLarge
    case unreadable(String)

    /// Returns the contents of a regular file of at most `bytes` bytes.
    static func contents(of file: String, atMost bytes: Int) throws(NamedFileProblem) -> Data {
        do {
            // A pipe must not be opened, because that may block forever.
            let type = try FileManager.default.attributesOfItem(atPath: file)[.type]
            guard type as? FileAttributeType == .typeRegular else { throw NamedFileProblem.notRegular }
            return Data(try InputFile.contents(of: file, atMost: bytes))
        } catch let problem as NamedFileProblem {
            throw problem
        } catch let error as InputFileError {
            throw error.isTooLarge ? .tooLarge : .unreadable(error.reason)
        } catch {
            throw .unreadable(error.fileReason)
        }
    }
}
