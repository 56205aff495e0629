import BluetoothEmulator
import BluetoothInstrumentation
import BluetoothSupport
import Foundation

/// The files of a search, beside the pages of failures: the history that fails, and the encounters of all.
struct HistoryFile {
    private let test: String
    private let name: String
    private let folder: URL

    /// - Parameter test: The name of the test.
    init(_ test: String, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.test = test
        folder = FailureReport.folder(environment)
        name = String(FailureReport.fileName(of: test + " histories").dropLast(".html".count))
    }

    /// Writes a history as a world file.
    ///
    /// - Returns: A line with the command that repeats it, or with the reason that the file is missing.
    func write(_ plan: HistoryPlan, _ world: WorldDescription, _ devices: [PeripheralDescription]) -> String {
        write(name + ".json") {
            try plan.file(world, devices)
        } success: { file in
            let filter = test.prefix { $0 != "(" }
            return "to repeat it: COREBLUETOOTH_HISTORY=\(file) swift test --filter \(filter)"
        } failure: {
            "the history is not stored: \($0)"
        }
    }

    /// Writes the fault plan of a history.
    ///
    /// - Returns: A line that says how to try it on an adapter, and a line for each step that the plan leaves out.
    func write(_ faults: HistoryFaults) -> [String] {
        let leftOut = faults.leftOut.map { "  without \"\($0.step)\": \($0.reason)" }
        guard !faults.plan.faults.isEmpty else { return ["no fault plan can repeat it on an adapter:"] + leftOut }
        let first = write(name + "-faults.json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(faults.plan)
        } success: {
            "to try it on an adapter: COREBLUETOOTH_BACKEND=bluez COREBLUETOOTH_FAULTS=\($0) my-program"
        } failure: {
            "the fault plan is not stored: \($0)"
        }
        return [first] + leftOut
    }

    /// Writes the encounters of a search.
    ///
    /// - Returns: A line that sums up the search.
    func write(_ result: HistorySearch.Result) -> String {
        let outcome = result.finding.map { "history \($0.number) fails" } ?? "none fails"
        let summary =
            "\(test): \(result.count) histories in \(result.time.inWords), \(outcome); \(result.coverage.summary)"
        return write(name + "-coverage.json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(result.coverage)
        } success: {
            "\(summary): \($0)"
        } failure: {
            "\(summary), which are not stored: \($0)"
        }
    }

    private func write(
        _ name: String, _ content: () throws -> Data, success: (String) -> String, failure: (any Error) -> String
    ) -> String {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appendingPathComponent(name)
            try OutputFile(file.path).write(Array(try content()))
            return success(file.path)
        } catch {
            return failure(error)
        }
    }
}
