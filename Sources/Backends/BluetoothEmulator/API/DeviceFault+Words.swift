import BluetoothSupport
import BluetoothValues

// Faults in words, the same in every tool.

extension DeviceFault {
    /// The fault and its remaining count: `The next 3 reads of 2A37 hang until resumed`.
    ///
    /// - Parameter name: Returns the name of a characteristic.
    package func words(naming name: (CharacteristicPath) -> String = { $0.uuid.text }) -> String {
        let isPlural = count.map { $0 != 1 } ?? false
        let number = count.map { $0 == 1 ? "The next" : "The next \($0)" } ?? "Every"
        let subject = (isPlural ? step.nouns.many : step.nouns.one) + (characteristic.map { " of " + name($0) } ?? "")
        let before = skip == 0 ? "" : ", after \(skip) that \(skip == 1 ? "succeeds" : "succeed")"
        return "\(number) \(subject) \(effect.words(for: step, isPlural: isPlural))\(before)"
    }
}

extension DeviceFault.Step {
    /// The step as a verb: `write without response`.
    package var words: String {
        switch self {
        case .connect: "connect"
        case .discoverServices: "discover services"
        case .discoverIncludedServices: "discover included services"
        case .discoverCharacteristics: "discover characteristics"
        case .discoverDescriptors: "discover descriptors"
        case .read: "read"
        case .write: "write"
        case .writeCommand: "write without response"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .notify: "notify"
        case .readRSSI: "read the signal strength"
        case .openChannel: "open a channel"
        case .pair: "pair"
        }
    }

    /// The step as a noun.
    fileprivate var nouns: (one: String, many: String) {
        switch self {
        case .connect: ("connection", "connections")
        case .discoverServices: ("discovery of services", "discoveries of services")
        case .discoverIncludedServices: ("discovery of included services", "discoveries of included services")
        case .discoverCharacteristics: ("discovery of characteristics", "discoveries of characteristics")
        case .discoverDescriptors: ("discovery of descriptors", "discoveries of descriptors")
        case .read: ("read", "reads")
        case .write: ("write", "writes")
        case .writeCommand: ("write without response", "writes without response")
        case .subscribe: ("subscription", "subscriptions")
        case .unsubscribe: ("end of a subscription", "ends of subscriptions")
        case .notify: ("notification", "notifications")
        case .readRSSI: ("measurement of the signal strength", "measurements of the signal strength")
        case .openChannel: ("channel", "channels")
        case .pair: ("pairing", "pairings")
        }
    }
}

extension DeviceFault.EffectName {
    /// The effect without a step, as the end of a sentence: `drops the link`.
    package var words: String {
        switch self {
        case .fail: "fails"
        case .delay: "comes late"
        case .pause: "hangs until resumed"
        case .disconnect: "drops the link"
        case .loseAnswer: "is performed, the answer is lost with the link"
        case .delayAnswer: "is performed, the answer comes late"
        case .corrupt: "has a malformed value"
        }
    }
}

extension DeviceFault.Effect {
    /// The effect on a step that met the fault: `The write fails with ATT error 0x80`.
    package func words(for step: DeviceFault.Step) -> String {
        "The \(step.nouns.one) \(words(for: step, isPlural: false))"
    }

    fileprivate func words(for step: DeviceFault.Step, isPlural: Bool) -> String {
        let (be, end) = isPlural ? ("are", "") : ("is", "s")
        return switch (self, step) {
        case (.fail, .notify), (.fail, .writeCommand): "\(be) lost"
        case (.fail, .pair), (.fail, .openChannel): "\(be) refused"
        case (.fail, .connect), (.fail, .readRSSI), (.disconnect, .connect): "fail\(end)"
        case (.fail(let code), _): "fail\(end) with \(code.number)"
        case (.delay(let time), _): "come\(end) \(time.words) late"
        case (.pause, _): "hang\(end) until resumed"
        case (.disconnect, _): "drop\(end) the link"
        case (.loseAnswer, .connect): "succeed\(end), and the link is lost at once"
        case (.loseAnswer, .notify), (.loseAnswer, .writeCommand): "arrive\(end), and then the link is lost"
        case (.loseAnswer, .openChannel): "open\(end), but the answer is lost with the link"
        case (.loseAnswer, _): "\(be) performed, but the answer is lost with the link"
        case (.delayAnswer(let time), _): "\(be) performed, but the answer comes \(time.words) late"
        case (.corrupt, .notify): "\(isPlural ? "have" : "has") a malformed value"
        case (.corrupt, _): "return\(end) a malformed value"
        }
    }
}

extension String {
    /// The text with its first letter in upper case.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// The text with its first letter in lower case.
    package var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
