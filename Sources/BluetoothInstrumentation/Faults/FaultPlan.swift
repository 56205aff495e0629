public import BluetoothBackend

/// The faults of a ``FaultInjectingBackend``, as data.
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
    /// The effect on them.
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
    /// Each from this time on, measured from the creation of the wrapper.
    case after(time: Duration)
}

/// The effect on a command or an event.
public enum FaultEffect: Hashable, Sendable, Codable {
    /// The operation fails with this error: a command does not reach the backend, an answer is replaced.
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

/// A fault that cannot happen, found when the plan is put to use.
public struct FaultPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which fault, counted from 0.
    public var index: Int
    /// A description of the error.
    public var rule: String

    /// The place of the fault in the plan's JSON, and the rule.
    public var description: String { "faults[\(index)]: \(rule)" }
}

extension FaultPlan {
    /// Checks that each fault can happen.
    ///
    /// - Throws: ``FaultPlanError`` for the first that cannot.
    public func validate() throws(FaultPlanError) {
        for (index, fault) in faults.enumerated() {
            if let rule = fault.brokenRule { throw FaultPlanError(index: index, rule: rule) }
        }
    }
}

extension Fault {
    fileprivate var brokenRule: String? {
        let (kind, traits) = (place.kind, place.kind.traits)
        if traits.contains(.isUntouchable) { return "\(kind) is always passed on" }
        if place.characteristic != nil, !traits.contains(.hasCharacteristic) {
            return "\(kind) is not about a characteristic"
        }
        if place.peer != nil, !traits.contains(.hasPeer) { return "\(kind) is not about a peer" }
        return trigger.brokenRule ?? effect.brokenRule(at: kind)
    }
}

extension FaultTrigger {
    fileprivate var brokenRule: String? {
        switch self {
        case .nth(let number) where number < 1: "nth counts from 1"
        case .rate(let probability) where !(0...1).contains(probability): "a rate is from 0 to 1"
        case .after(let time) where time < .zero: "a time is not negative"
        default: nil
        }
    }
}

extension FaultEffect {
    fileprivate func brokenRule(at kind: FaultKind) -> String? {
        switch self {
        case .error where !kind.traits.contains(.canFail): "\(kind) has no operation that could fail"
        case .delay(let time) where time < .zero: "a delay is not negative"
        case .drop where kind.traits.contains(.isLinkBoundary):
            "\(kind) cannot be lost: the link would never begin or end"
        case .corrupt where !kind.traits.contains(.hasValue): "\(kind) carries no value"
        case .duplicate where !kind.traits.contains(.canRepeat): "\(kind) cannot come twice"
        case .disconnect where !kind.traits.contains(.isOnLink): "\(kind) is not on a link of a central manager"
        default: nil
        }
    }
}
