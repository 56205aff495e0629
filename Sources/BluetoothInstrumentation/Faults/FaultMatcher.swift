import BluetoothBackend
import BluetoothSupport

/// Says which fault hits what passes: counts, chances and times.
///
/// Pure.
struct FaultMatcher: Sendable {
    /// What a plan can see of a command or an event.
    struct FaultContext {
        var kind: FaultKind
        var characteristic: BluetoothUUID?
        var peer: PeerID?
    }

    private let faults: [Fault]
    private var counts: [Int]
    /// One stream for each fault, so that one fault's traffic does not change another's chance.
    private var generators: [SeededGenerator]
    /// For what corrupted values look like.
    private var corruption: SeededGenerator

    init(_ plan: FaultPlan) {
        faults = plan.faults
        counts = Array(repeating: 0, count: plan.faults.count)
        generators = plan.faults.indices.map {
            SeededGenerator(seed: plan.seed &+ UInt64($0 + 1) &* 0xD1B5_4A32_D192_ED03)
        }
        corruption = SeededGenerator(seed: plan.seed)
    }

    /// Records a command or an event.
    ///
    /// - Parameter elapsed: The time since the wrapper was made.
    /// - Returns: The effect of the first fault that is due.
    mutating func decide(_ context: FaultContext, elapsed: Duration) -> FaultEffect? {
        var effect: FaultEffect?
        for index in faults.indices where fits(faults[index].place, context) {
            counts[index] += 1
            if isDue(index, elapsed: elapsed), effect == nil { effect = faults[index].effect }
        }
        return effect
    }

    /// The next random number for corrupting a value.
    mutating func randomForCorruption() -> UInt64 { corruption.next() }

    private func fits(_ place: FaultPlace, _ context: FaultContext) -> Bool {
        place.kind == context.kind
            && (place.characteristic == nil || place.characteristic == context.characteristic)
            && (place.peer == nil || place.peer == context.peer)
    }

    private mutating func isDue(_ index: Int, elapsed: Duration) -> Bool {
        switch faults[index].trigger {
        case .once: counts[index] == 1
        case .nth(let number): counts[index] == number
        case .rate(let probability): Double.random(in: 0..<1, using: &generators[index]) < probability
        case .after(let time): elapsed >= time
        }
    }
}
