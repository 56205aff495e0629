import BluetoothDBus
import Testing

@testable import EmulatedBlueZ

/// The daemon answers each call once, and retains no state of clients that left, for any input.
@Suite struct RandomInputTests {
    @Test(arguments: 1...400) func everyCallIsAnsweredOnce(_ seed: Int) {
        var inputs = RandomInputs(seed: UInt64(seed))
        for _ in 0..<300 {
            inputs.step()
            #expect(inputs.answers.values.allSatisfy { $0 <= 1 }, "seed \(seed)")
        }
        inputs.end()
        let unanswered = inputs.answers.filter { $0.value != 1 }.keys.compactMap { inputs.calls[$0] }.sorted()
        #expect(unanswered.isEmpty, "seed \(seed)")
        #expect(inputs.daemon.context.sockets.isEmpty, "seed \(seed)")
        #expect(inputs.daemon.context.requests.isEmpty, "seed \(seed)")
        #expect(inputs.daemon.context.tree.paths.map(\.text) == ["/org/bluez"], "seed \(seed)")
    }
}
