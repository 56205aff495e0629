import BluetoothBackend

/// What later events make void while they wait for a slow queue, in the peripheral role.
enum PeripheralEventMerging {
    /// Merges events that tell of changes.
    ///
    /// - A request that the radio has answered meanwhile is gone, and so is a channel that its central has closed.
    /// - A central that came and left meanwhile is gone. Of any other, at most the first and the last change of each
    ///   subscription stay: see ``subscriptions(of:_:)``.
    /// - The last ATT MTU of each central stays, unless a subscription after it has a newer one.
    ///
    /// - Parameter events: In order.
    /// - Returns: What takes the place of each event; nil for those that are void.
    static func merged(_ events: [PeripheralEvent]) -> [PeripheralEvent?] {
        var left: [PeripheralEvent?] = events
        var requests: [RequestID: Int] = [:]
        var channels: [ChannelID: Int] = [:]
        var mtus: [PeerID: Int] = [:]
        var subscriptions: [PeerID: [Int]] = [:]
        func drop(_ old: Int?) { if let old { left[old] = nil } }
        for (index, event) in events.enumerated() {
            switch event {
            case .readRequested(let request, _, _, _, _), .writeRequested(let request, _, _, _, _):
                requests[request] = index
            case .requestExpired(let request):
                guard let asked = requests.removeValue(forKey: request) else { continue }
                (left[asked], left[index]) = (nil, nil)
            case .channelOpened(let channel, _, _, _): channels[channel] = index
            case .channel(let channel, .closed):
                drop(channels.removeValue(forKey: channel))
                left[index] = nil
            case .mtuChanged(let central, _): drop(mtus.updateValue(index, forKey: central))
            case .subscribed(let central, _, _, _):
                drop(mtus.removeValue(forKey: central))
                subscriptions[central, default: []].append(index)
            case .unsubscribed(let central, _): subscriptions[central, default: []].append(index)
            default: break
            }
        }
        for indices in subscriptions.values {
            let kept = Self.subscriptions(of: indices, events)
            for index in indices where !kept.contains(index) { left[index] = nil }
        }
        return left
    }

    /// Which changes of one central's subscriptions stay.
    ///
    /// The credits of a central end with its last subscription. So each subscription that was on at some time stays on at
    /// that time, since otherwise the last one would seem to end; and the last event that grants credits stays, since the
    /// backend counts from there.
    private static func subscriptions(of indices: [Int], _ events: [PeripheralEvent]) -> Set<Int> {
        struct Changes {
            var firstOn: Int?
            var lastOn: Int?
            var lastOff: Int?
            var beginsOn = false
            var endsOn = false
        }
        var attributes: [AttributeID: Changes] = [:]
        var lastGrant: Int?
        var isNew: Bool?
        for index in indices {
            switch events[index] {
            case .subscribed(_, let attribute, _, let credits):
                if isNew == nil { isNew = credits > 0 }
                if credits > 0 { lastGrant = index }
                var changes = attributes[attribute] ?? Changes(beginsOn: false)
                if changes.firstOn == nil { changes.firstOn = index }
                changes.lastOn = index
                changes.endsOn = true
                attributes[attribute] = changes
            case .unsubscribed(_, let attribute):
                if isNew == nil { isNew = false }
                var changes = attributes[attribute] ?? Changes(beginsOn: true)
                changes.lastOff = index
                changes.endsOn = false
                attributes[attribute] = changes
            default: break
            }
        }
        // It had no subscription before, and has none now.
        if isNew == true, attributes.values.allSatisfy({ !$0.endsOn }) { return [] }
        var kept = Set(lastGrant.map { [$0] } ?? [])
        for changes in attributes.values {
            let on = changes.beginsOn ? (changes.endsOn ? changes.lastOn : nil) : changes.firstOn
            let off = changes.beginsOn || !changes.endsOn ? changes.lastOff : nil
            kept.formUnion([on, off].compactMap { $0 })
        }
        return kept
    }
}
