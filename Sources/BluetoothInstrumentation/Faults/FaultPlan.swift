public import BluetoothBackend

/// What goes wrong on a radio, as data: the plan of a ``FaultInjectingBackend``.
///
/// The same seed, plan and traffic give the same faults, so that a failing run can be written down.
public struct FaultPlan: Hashable, Sendable, Codable {
    /// From which all chance follows.
    public var seed: UInt64
    /// The faults; where several fit one command or event, the first that is due takes effect, and all count it.
    public var faults: [Fault]

    /// A plan.
    public init(seed: UInt64 = 1, faults: [Fault]) {
        self.seed = seed
        self.faults = faults
    }
}

/// One thing that goes wrong: where, when and what.
public struct Fault: Hashable, Sendable, Codable {
    /// Which commands or events.
    public var place: FaultPlace
    /// Which of them.
    public var trigger: FaultTrigger
    /// What becomes of them.
    public var effect: FaultEffect

    /// One thing that goes wrong.
    public init(_ place: FaultPlace, _ trigger: FaultTrigger, _ effect: FaultEffect) {
        self.place = place
        self.trigger = trigger
        self.effect = effect
    }

    private enum CodingKeys: String, CodingKey {
        case place = "where"
        case trigger = "when"
        case effect = "what"
    }
}

/// Which commands or events a fault is for.
public struct FaultPlace: Hashable, Sendable, Codable {
    /// The kind of command or event.
    public var kind: FaultKind
    /// Only those about a characteristic of this type, nil for all.
    ///
    /// Learned from the discoveries that pass.
    public var characteristic: BluetoothUUID?
    /// Only those about this peer, nil for all.
    public var peer: PeerID?

    /// Which commands or events a fault is for.
    public init(_ kind: FaultKind, characteristic: BluetoothUUID? = nil, peer: PeerID? = nil) {
        self.kind = kind
        self.characteristic = characteristic
        self.peer = peer
    }
}

/// Which of the commands or events at a fault's place are hit.
///
/// Each manager counts for itself.
public enum FaultTrigger: Hashable, Sendable, Codable {
    /// The first, and no other.
    case once
    /// This one alone, counted from 1.
    case nth(number: Int)
    /// Each with this probability, 0...1.
    case rate(probability: Double)
    /// Each from this time on, measured from the making of the radio's wrapper.
    case after(time: Duration)
}

/// What becomes of a command or event that is hit.
public enum FaultEffect: Hashable, Sendable, Codable {
    /// The operation fails with this error: a command does not reach the radio, an answer is replaced.
    indirect case error(BackendError)
    /// It passes so much later, and what follows on the same link waits behind it.
    case delay(by: Duration)
    /// It is lost. A lost command is never answered.
    case drop
    /// One bit of the value is flipped; an empty value becomes one byte.
    case corrupt
    /// It passes twice. An operation is done twice and answered once.
    case duplicate
    /// The link ends for this reason, and what was hit is lost with it, but for `connected`, which passes first.
    case disconnect(reason: DisconnectReason)
}
