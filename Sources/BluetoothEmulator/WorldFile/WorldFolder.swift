import BluetoothSupport

/// The folder of a world file, in which or below which the files are that it names.
struct WorldFolder: Sendable {
    /// With symbolic links resolved.
    private let path: String

    /// - Parameter file: The path of the world file.
    init(ofFile file: String) { path = URL(fileURLWithPath: Self.resolved(file)).deletingLastPathComponent().path }

    /// Whether a file is in the folder or below, with symbolic links resolved.
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

/// Why a file that another one names is not read.
enum NamedFileProblem: Error {
    case notRegular
    case tooLarge
    case unreadable(String)

    /// The contents of a regular file with so many bytes at most.
    static func contents(of file: String, atMost bytes: Int) throws(NamedFileProblem) -> Data {
        do {
            // Not for a pipe to be opened, which may wait for ever.
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
