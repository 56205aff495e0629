import BluetoothBackend

/// A fault that cannot happen, found when the plan is put to use.
public struct FaultPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which fault, counted from 0.
    public var index: Int
    /// What is impossible, and why.
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
    /// The rule that the fault breaks, if any.
    fileprivate var brokenRule: String? {
        let kind = place.kind
        if kind.isUntouchable { return "\(kind) is always passed on" }
        if place.characteristic != nil, !kind.hasCharacteristic { return "\(kind) is not about a characteristic" }
        if place.peer != nil, !kind.hasPeer { return "\(kind) is not about a peer" }
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
        case .error where !kind.canFail: "\(kind) has no operation that could fail"
        case .delay(let time) where time < .zero: "a delay is not negative"
        case .drop where kind.isLinkBoundary: "\(kind) cannot be lost: the link would never begin or end"
        case .corrupt where !kind.hasValue: "\(kind) carries no value"
        case .duplicate where !kind.canRepeat: "\(kind) cannot come twice"
        case .disconnect where !kind.isOnLink: "\(kind) is not on a link of a central manager"
        default: nil
        }
    }
}
