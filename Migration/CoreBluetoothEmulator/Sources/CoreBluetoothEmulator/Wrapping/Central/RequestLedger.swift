import Foundation

/// The requests of a peripheral that are not answered, in order.
///
/// Answers of one kind about one attribute come in the order of the requests. So it is known which answers are for the
/// app's delegate, and which for the bus or for a look-up of the module's own.
struct RequestLedger {
    /// What is asked, and about which attribute.
    enum Key: Hashable {
        case services, rssi, channel
        case included(ObjectIdentifier)
        case characteristics(ObjectIdentifier)
        case descriptors(ObjectIdentifier)
        case read(ObjectIdentifier)
        case write(ObjectIdentifier)
        case subscription(ObjectIdentifier)
    }

    /// How a request ended.
    enum Outcome {
        case done
        case channel(EmulatedCBL2CAPChannel)
        case failed(any Error)
    }

    /// Who waits for the answer; nil is the app's delegate.
    typealias Completion = (Outcome) -> Void

    private var pending: [Key: [Completion?]] = [:]

    mutating func append(_ key: Key, _ completion: Completion?) {
        pending[key, default: []].append(completion)
    }

    /// An answer has come.
    ///
    /// - Returns: Who waits for it; nil is the app's delegate.
    mutating func removeFirst(_ key: Key) -> Completion? {
        guard pending[key]?.isEmpty == false else { return nil }
        return pending[key]?.removeFirst() ?? nil
    }

    /// The link is over.
    ///
    /// - Returns: Those who wait, except the app's delegate, which hears of the disconnection.
    mutating func removeAll() -> [Completion] {
        defer { pending = [:] }
        return pending.values.flatMap { $0 }.compactMap { $0 }
    }
}
