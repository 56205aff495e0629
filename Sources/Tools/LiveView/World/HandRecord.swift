import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// The manual actions on a world, as the source of a test.
final class HandRecord: Sendable {
    /// The number of steps after which later ones are omitted, with a comment.
    static let maximumSteps = 1_000

    private struct Step {
        let time: Duration
        let statement: String
    }

    private struct State {
        var steps: [Step] = []
        var omitted = 0
    }

    private let file: String?
    private let seed: UInt64
    private let state = Lock(State())

    init(file: String?, seed: UInt64) { (self.file, self.seed) = (file, seed) }

    /// Adds a statement, at the time since the world began.
    func add(_ statement: String, at time: Duration) {
        state.withLock { state in
            guard state.steps.count < Self.maximumSteps else { return state.omitted += 1 }
            state.steps.append(Step(time: time, statement: statement))
        }
    }

    /// The source of a test in virtual time.
    var source: String {
        let (steps, omitted) = state.withLock { ($0.steps, $0.omitted) }
        var lines = ["import BluetoothEmulator", "import Foundation", "import Testing", ""]
        if let file, !file.hasSuffix(".json") {
            let name = PlainText.oneLine(file)
            lines.append("// Tests read JSON: bluectl world convert \(name) > \(Self.jsonName(name))")
        }
        lines += ["@Test func whatWasDoneByHand() async throws {", "    let emulator = \(emulatorSource)"]
        var now = Duration.zero
        for step in steps {
            if step.time > now {
                lines.append("    try await emulator.advance(by: \(Self.source(of: step.time - now)))")
            }
            now = max(now, step.time)
            lines.append("    \(step.statement)")
        }
        if omitted > 0 { lines.append("    // \(omitted) later steps were not kept.") }
        lines += [
            "    try await emulator.advance(by: .zero)", "    // Use your app here, and check what it shows.", "}",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var emulatorSource: String {
        guard let file else { return "try Emulator(world: .builtIn, time: .virtual, seed: \(seed))" }
        return "try Emulator(worldFile: \(Self.jsonName(file).quoted), time: .virtual, seed: \(seed))"
    }

    private static func jsonName(_ file: String) -> String {
        let end = [".yaml", ".yml"].first { file.hasSuffix($0) }
        return end.map { file.dropLast($0.count) + ".json" } ?? file
    }

    /// Returns a duration as Swift source.
    static func source(of duration: Duration) -> String {
        ".nanoseconds(\(Int64((duration / .nanoseconds(1)).rounded())))"
    }
}

/// The treatment of untrusted text in a line of source.
private enum PlainText {
    static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } ? "?" : $0 })
    }
}
