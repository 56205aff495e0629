public import BluetoothBackend

/// The faults of a ``FaultInjectingBackend``, as data.
///
/// The same seed, plan and traffic produce the same faults, so that a failing run can be reproduced.
public struct FaultPlan: Hashable, Sendable, Codable {
    /// The seed of all random decisions.
    public var seed: UInt64
    /// The faults; if several match one command or event, the first that is due takes effect, and all count it.
    public var faults: [Fault]

    /// Creates a plan.
    public init(seed: UInt64 = 1, faults: [Fault]) {
        self.seed = seed
        self.faults = faults
    }
}

/// One fault: a place, a trigger and an effect.
public struct Fault: Hashable, Sendable, Codable {
    /// The commands or events that the fault affects.
    public var place: FaultPlace
    /// The selection among them.
    public var trigger: FaultTrigger
    /// The effect on them.
    public var effect: FaultEffect

    /// Creates a fault.
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

/// The commands or events that a fault affects.
public struct FaultPlace: Hashable, Sendable, Codable {
    /// The kind of command or event.
    public var kind: FaultKind
    /// The type of the characteristic that they must concern; nil for any.
    ///
    /// The wrapper learns it from the discoveries that pass.
    public var characteristic: BluetoothUUID?
    /// The peer that they must concern; nil for any.
    public var peer: PeerID?
    /// The number of the manager that they must belong to; nil for any.
    ///
    /// Managers of one role are numbered from 1 on, in the order of their creation, as in a trace: `central 2`.
    public var manager: Int?

    /// Creates a place.
    public init(
        _ kind: FaultKind, characteristic: BluetoothUUID? = nil, peer: PeerID? = nil, manager: Int? = nil
    ) {
        self.kind = kind
        self.characteristic = characteristic
        self.peer = peer
        self.manager = manager
    }
}

/// The selection among the commands or events at a fault's place.
///
/// Each manager has separate counts.
public enum FaultTrigger: Hashable, Sendable {
    /// The first one only.
    case once
    /// This one only, counted from 1.
    case nth(number: Int)
    /// Each with this probability, 0...1.
    case rate(probability: Double)
    /// Each one after this time, measured from the creation of the wrapper.
    case after(time: Duration)
}

/// The effect on a command or an event.
public enum FaultEffect: Hashable, Sendable {
    /// The operation fails with this error: a command does not reach the backend, an answer is replaced.
    indirect case error(BackendError)
    /// It is delayed by this time, and later messages on the same link wait behind it.
    case delay(by: Duration)
    /// It is lost. A lost command is never answered.
    case drop
    /// One bit of the value is flipped; an empty value becomes one byte.
    case corrupt
    /// It passes twice. An operation is performed twice and answered once.
    case duplicate
    /// The link ends for this reason, and the message is lost with it, except `connected`, which passes first.
    case disconnect(reason: DisconnectReason)
}

/// A fault that cannot happen, found when the plan is validated.
public struct FaultPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The index of the fault, from 0.
    public var index: Int
    /// A description of the error.
    public var rule: String

    /// The place of the fault in the plan's JSON, and the rule.
    public var description: String { "faults[\(index)]: \(rule)" }
}

extension FaultPlan {
    /// Checks that each fault can happen.
    ///
    /// - Throws: ``FaultPlanError`` for the first one that cannot.
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
        if let manager = place.manager, manager < 1 { return "managers count from 1" }
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
