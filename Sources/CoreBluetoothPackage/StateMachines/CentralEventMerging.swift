import BluetoothBackend

/// What later events make void while they wait for a slow queue, in the central role.
enum CentralEventMerging {
    /// A property of which only the last value matters.
    private enum Property: Hashable {
        case name(PeerID)
        case connection(PeerID)
        case ancsAuthorization(PeerID)
        case mtu(LinkID)
    }

    /// Merges events that tell of changes.
    ///
    /// - The last name, ATT MTU, authorization and connection event of each device stay.
    /// - A link that began and ended meanwhile, with another attempt after it, is gone with all of its events.
    /// - Changes of a device's services are one, unless a discovery was answered between them.
    ///
    /// - Parameter events: In order.
    /// - Returns: What takes the place of each event; nil for those that are void.
    static func merged(_ events: [CentralEvent]) -> [CentralEvent?] {
        var left: [CentralEvent?] = events
        var properties: [Property: Int] = [:]
        var services: [LinkID: Int] = [:]
        /// The events of links that began meanwhile.
        var began: [LinkID: [Int]] = [:]
        for (index, event) in events.enumerated() {
            if let property = property(of: event), let old = properties.updateValue(index, forKey: property) {
                left[old] = nil
            }
            if case .connected(_, let link, _, _) = event { began[link] = [] }
            if let link = link(of: event) { began[link]?.append(index) }
            switch event {
            case .disconnected(let link, _, _, isReconnecting: true):
                for void in began.removeValue(forKey: link) ?? [] { left[void] = nil }
            case .response(let link, _, .services):
                services[link] = nil
            case .servicesChanged(let link, let removed, let added):
                if let old = services.updateValue(index, forKey: link),
                    case .servicesChanged(_, let removedBefore, let addedBefore)? = left[old]
                {
                    let known = Set(addedBefore.map(\.id))
                    let gone = Set(removed)
                    left[old] = nil
                    left[index] = .servicesChanged(
                        link: link, removed: removedBefore + removed.filter { !known.contains($0) },
                        added: addedBefore.filter { !gone.contains($0.id) } + added)
                }
            default: break
            }
        }
        return left
    }

    private static func link(of event: CentralEvent) -> LinkID? {
        switch event {
        case .connected(_, let link, _, _), .disconnected(let link, _, _, _), .mtuChanged(let link, _),
            .writeCredits(let link, _), .servicesChanged(let link, _, _):
            link
        default: nil
        }
    }

    private static func property(of event: CentralEvent) -> Property? {
        switch event {
        case .nameChanged(let peer, _, _): .name(peer)
        case .connectionEvent(let peer, _): .connection(peer)
        case .ancsAuthorizationChanged(let peer, _): .ancsAuthorization(peer)
        case .mtuChanged(let link, _): .mtu(link)
        default: nil
        }
    }
}
