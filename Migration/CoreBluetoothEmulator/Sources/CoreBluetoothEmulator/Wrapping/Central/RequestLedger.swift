import Foundation

/// The unanswered requests of a peripheral, in order.
///
/// Answers of one kind about one attribute arrive in the order of the requests. The ledger therefore knows which
/// answers are for the app's delegate, and which for the bus or for a look-up of the module.
/// app's delegate, and which for the bus or for a look-up of the module's own.
struct RequestLedger {
    /// The kind of a request, and its attribute.
    enum Key: Hashable {
        case services, rssi, channel
        case included(ObjectIdentifier)
        case characteristics(ObjectIdentifier)
        case descriptors(ObjectIdentifier)
        case read(ObjectIdentifier)
        case write(ObjectIdentifier)
        case subscription(ObjectIdentifier)
    }

    /// The outcome of a request.
    enum Outcome {
        case done
        case channel(EmulatedCBL2CAPChannel)
        case failed(any Error)
    }

    /// The receiver of the answer; nil for the app's delegate.
    typealias Completion = (Outcome) -> Void

    private var pending: [Key: [Completion?]] = [:]

    mutating func append(_ key: Key, _ completion: Completion?) {
        pending[key, default: []].append(completion)
    }

    /// Removes the first request that an answer matches.
    ///
    /// - Returns: The receiver of the answer; nil for the app's delegate.
    mutating func removeFirst(_ key: Key) -> Completion? {
        guard pending[key]?.isEmpty == false else { return nil }
        return pending[key]?.removeFirst() ?? nil
    }

    /// Removes all requests, because the link ended.
    ///
    /// - Returns: The receivers, except the app's delegate, which receives the disconnection.
    mutating func removeAll() -> [Completion] {
        defer { pending = [:] }
        return pending.values.flatMap { $0 }.compactMap { $0 }
    }
}
