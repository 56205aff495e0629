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
    case unreadable(any Error)

    /// The contents of a regular file with so many bytes at most.
    static func contents(of file: String, atMost bytes: Int) throws(NamedFileProblem) -> Data {
        let text: Data
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { throw NamedFileProblem.notRegular }
            guard attributes[.size] as? UInt64 ?? 0 <= UInt64(max(0, bytes)) else { throw NamedFileProblem.tooLarge }
            text = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch let problem as NamedFileProblem {
            throw problem
        } catch {
            throw .unreadable(error)
        }
        // For a system whose attributes have no number of this type, or a file that grows.
        guard text.count <= bytes else { throw .tooLarge }
        return text
    }
}
