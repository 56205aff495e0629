import BluetoothSupport
import BluetoothTracing
import Foundation
import Testing
import TraceReports

/// The page of a failing test: the failure, and the actions of its managers over time.
///
/// It is a file in the folder that `COREBLUETOOTH_REPORTS` names, by default `.build/bluetooth-reports` in the working
/// directory, and an attachment of the test if the testing library supports attachments.
struct FailureReport {
    private static let usedNames = Lock<[String: Int]>([:])

    private let html: String
    private let name: String

    init(_ failure: TestFailure, _ entries: [TraceEntry], of test: String, seed: UInt64) {
        html = TraceTimeline(entries).htmlReport(title: "\(test), seed \(seed)", failure: failure)
        name = Self.fileName(of: test)
    }

    /// Writes the page.
    ///
    /// - Returns: A line for the message of the failure, with the path or with the reason that the file is missing.
    func write() -> String {
        let folder = Self.folder(ProcessInfo.processInfo.environment)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appendingPathComponent(name)
            try OutputFile(file.path).write(Array(html.utf8))
            return "what happened, as a page: \(file.path)"
        } catch {
            return "no page of what happened: \(error)"
        }
    }

    /// Attaches the page to the current test of Swift Testing.
    func attach() {
        #if compiler(>=6.2)
        Attachment.record(html, named: name)
        #endif
    }

    static func folder(_ environment: [String: String]) -> URL {
        if let folder = environment["COREBLUETOOTH_REPORTS"], !folder.isEmpty { return URL(fileURLWithPath: folder) }
        return URL(fileURLWithPath: ".build/bluetooth-reports")
    }

    /// Returns a unique name for each failure of this process: a test may have several cases.
    static func fileName(of test: String) -> String {
        let letters = test.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain ? Character(scalar) : "-"
        }
        let words = String(letters).split(separator: "-").joined(separator: "-").prefix(100)
        let base = words.isEmpty ? "test" : String(words)
        let number = usedNames.withLock { names in
            names[base, default: 0] += 1
            return names[base, default: 1]
        }
        return number == 1 ? "\(base).html" : "\(base)-\(number).html"
    }
}
