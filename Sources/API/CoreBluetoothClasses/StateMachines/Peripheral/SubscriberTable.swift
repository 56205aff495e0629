import BluetoothBackend
import BluetoothValues
import FoundationEssentials

/// The subscriptions of centrals, and the number of values that may be sent to each.
///
/// Credits count per central, from the first of its subscriptions to the end of its last.
struct SubscriberTable: Sendable {
    private struct Central {
        var mtu: Int
        var credits = 0
        /// The values whose credits have not come back.
        var unsent = 0
        var attributes: Set<AttributeID> = []
    }

    private var centrals: [PeerID: Central] = [:]
    private var subscribers: [AttributeID: [PeerID]] = [:]
    /// The targets of updates that were refused since there last was space.
    private var refused: Set<Set<PeerID>> = []
    /// The targets of updates that have not left for all of them.
    private var sending: Set<Set<PeerID>> = []

    /// The characteristics with subscribers, in order.
    var attributes: [AttributeID] { subscribers.keys.sorted() }

    /// Returns the number of bytes that one update carries at an MTU (S139), at most 512.
    ///
    /// Source: Core Specification, Vol 3, Part F, 3.2.9 and 3.4.7.1.
    static func longestUpdate(mtu: Int) -> Int {
        min(ATTLimits.written(mtu: max(mtu, ATTLimits.minimumMTU)), ATTLimits.longestValue)
    }

    // MARK: Changes

    /// - Returns: Whether the subscription is new.
    mutating func subscribe(_ id: PeerID, to attribute: AttributeID, mtu: Int, credits: Int) -> Bool {
        centrals[id, default: Central(mtu: mtu)].mtu = mtu
        if credits > 0 {
            // They count from here: earlier values belonged to subscriptions that have ended.
            centrals[id]?.credits = credits
            centrals[id]?.unsent = 0
        }
        guard centrals[id]?.attributes.insert(attribute).inserted == true else { return false }
        subscribers[attribute, default: []].append(id)
        return true
    }

    /// - Returns: Whether the subscription existed.
    mutating func unsubscribe(_ id: PeerID, from attribute: AttributeID) -> Bool {
        guard centrals[id]?.attributes.remove(attribute) != nil else { return false }
        if centrals[id]?.attributes.isEmpty == true { centrals[id] = nil }
        subscribers[attribute]?.removeAll { $0 == id }
        if subscribers[attribute]?.isEmpty == true { subscribers[attribute] = nil }
        return true
    }

    mutating func removeSubscribers(of attribute: AttributeID) {
        for id in subscribers[attribute] ?? [] { _ = unsubscribe(id, from: attribute) }
    }

    mutating func grant(_ count: Int, to id: PeerID) {
        guard count > 0, var central = centrals[id] else { return }
        let (sum, isTooMuch) = central.credits.addingReportingOverflow(count)
        central.credits = isTooMuch ? .max : sum
        central.unsent = max(0, central.unsent - count)
        centrals[id] = central
    }

    mutating func changeMTU(of id: PeerID, to mtu: Int) {
        centrals[id]?.mtu = mtu
    }

    // MARK: Updates

    /// Spends a credit for each target of an update (S137, S138).
    ///
    /// - Returns: The prefix of the value for each target, empty if there is no target; nil if a target has no credit.
    mutating func send(
        _ value: Data, of attribute: AttributeID, to chosen: Set<PeerID>?
    ) -> [(value: Data, centrals: [PeerID])]? {
        let targets = (subscribers[attribute] ?? []).filter { chosen?.contains($0) ?? true }
        guard targets.allSatisfy(hasCredit) else {
            refused.insert(Set(targets))
            return nil
        }
        if !targets.isEmpty { sending.insert(Set(targets)) }
        var batches: [(value: Data, centrals: [PeerID])] = []
        for id in targets {
            guard let mtu = centrals[id]?.mtu else { continue }
            centrals[id]?.credits -= 1
            centrals[id]?.unsent += 1
            let length = min(value.count, Self.longestUpdate(mtu: mtu))
            if let index = batches.firstIndex(where: { $0.value.count == length }) {
                batches[index].centrals.append(id)
            } else {
                batches.append((length == value.count ? value : Data(value.prefix(length)), [id]))
            }
        }
        return batches
    }

    /// Returns whether a refused update would go now, and whether all updates for some targets have left; each once.
    mutating func takeReadiness() -> (hasRoomAgain: Bool, isAllSent: Bool) {
        let hasRoomAgain = refused.contains { $0.allSatisfy { centrals[$0] == nil || hasCredit($0) } }
        if hasRoomAgain { refused = [] }
        let sent = sending.filter { $0.allSatisfy { (centrals[$0]?.unsent ?? 0) == 0 } }
        sending.subtract(sent)
        return (hasRoomAgain, !sent.isEmpty)
    }

    private func hasCredit(_ id: PeerID) -> Bool { (centrals[id]?.credits ?? 0) > 0 }
}
