/// A role around a role: passes everything on as it comes, and shows it to a ``RoleInterposer``.
///
/// Events that a backend appends in batches stay in these batches, and an event that the backend's thread may deliver
/// inline is delivered inline.
package final class InterposedRole<Base: RoleBackend, Interposer: RoleInterposer>: RoleBackend
where Interposer.Command == Base.Command, Interposer.Event == Base.Event {
    private let base: Base
    private let interposer: Interposer

    package init(_ base: Base, _ interposer: Interposer) { (self.base, self.interposer) = (base, interposer) }

    package func activate(_ sink: any EventSink<Base.Event>) {
        interposer.willActivate()
        base.activate(InterposedSink(sink, interposer))
    }

    package func submit(_ command: Base.Command) {
        interposer.willSubmit(command)
        base.submit(command)
    }

    package func invalidate() {
        interposer.willInvalidate()
        base.invalidate()
    }
}

extension InterposedRole: CentralBackend where Base: CentralBackend {
    package func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        let peers = base.knownPeers(ids)
        interposer.didReturn(peers)
        return peers
    }

    package func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        let peers = base.connectedPeers(offering: services)
        interposer.didReturn(peers)
        return peers
    }
}

extension InterposedRole: PeripheralBackend where Base: PeripheralBackend {}
extension InterposedRole: PairingBackend where Base: PairingBackend {}

/// The sink that an ``InterposedRole`` gives its base.
private final class InterposedSink<Interposer: RoleInterposer>: EventSink {
    private let base: any EventSink<Interposer.Event>
    private let interposer: Interposer

    init(_ base: any EventSink<Interposer.Event>, _ interposer: Interposer) {
        (self.base, self.interposer) = (base, interposer)
    }

    var label: String { base.label }

    func deliver(_ event: Interposer.Event) { append(event)?.start() }

    func append(_ event: Interposer.Event) -> (any PendingDelivery)? {
        interposer.willDeliver(event)
        // The delivery of an idle receiver comes with the first of the two.
        let first = base.appendMarker { [interposer] in interposer.handleEvents() }
        let second = base.append(event)
        return first ?? second
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { base.afterDelivery(body) }

    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? { base.appendMarker(body) }
}
