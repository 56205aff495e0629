extension DeviceFault {
    /// The effects without their parameters, by their names in world files.
    package enum EffectName: String, Hashable, Sendable, CaseIterable {
        case fail, delay, pause, disconnect, loseAnswer, delayAnswer, corrupt

        /// Returns the rule that keeps the effect from a step; nil if it applies.
        package func brokenRule(at step: Step) -> String? {
            switch self {
            case .fail, .delay, .pause, .disconnect: nil
            case .loseAnswer: step == .readRSSI ? "\(step) has no answer from the device" : nil
            case .delayAnswer: step.isATTRequest ? nil : "\(step) has no answer that can come late"
            case .corrupt: [.read, .notify].contains(step) ? nil : "\(step) returns no value"
            }
        }
    }
}

extension DeviceFault.Effect {
    package var name: DeviceFault.EffectName {
        switch self {
        case .fail: .fail
        case .delay: .delay
        case .pause: .pause
        case .disconnect: .disconnect
        case .loseAnswer: .loseAnswer
        case .delayAnswer: .delayAnswer
        case .corrupt: .corrupt
        }
    }
}

extension DeviceFault.Step {
    /// Whether the step is one or more ATT requests, which the device answers.
    package var isATTRequest: Bool {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .write, .subscribe, .unsubscribe:
            true
        case .connect, .writeCommand, .notify, .readRSSI, .openChannel, .pair: false
        }
    }
}
