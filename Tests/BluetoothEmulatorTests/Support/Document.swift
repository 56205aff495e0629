import Foundation

/// A page of the emulator's documentation.
struct Document {
    let file: URL

    init(_ name: String, of module: String = "BluetoothEmulator", in group: String = "Backends") {
        file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/\(group)/\(module)/\(module).docc/\(name).md")
    }

    func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Whether the environment requests that generated pages are rewritten.
    static var isRewriting: Bool { ProcessInfo.processInfo.environment["REWRITE_DOCUMENTS"] == "1" }
}
