import BluetoothBackend

/// A role of a backend whose commands and events are recorded.
final class TracingRole<Base: RoleBackend>: RoleBackend
where Base.Command: TraceMessage, Base.Event: TraceMessage {
    private let base: Base
    private let trace: BackendTrace
    private let source: BackendTrace.Source

    init(_ base: Base, trace: BackendTrace, source: BackendTrace.Source) {
        self.base = base
        self.trace = trace
        self.source = source
    }

    func activate(_ sink: any EventSink<Base.Event>) {
        trace.add(TraceLine("activate", showsValues: false), .configuration, from: source)
        base.activate(TracingSink(sink, trace: trace, source: source))
    }

    func submit(_ command: Base.Command) {
        trace.add(command, from: source)
        trace.flush()
        base.submit(command)
    }

    func invalidate() {
        trace.add(TraceLine("invalidate", showsValues: false), .configuration, from: source)
        base.invalidate()
    }
}

extension TracingRole: CentralBackend where Base: CentralBackend {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { base.knownPeers(ids) }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        base.connectedPeers(offering: services)
    }
}

extension TracingRole: PeripheralBackend where Base: PeripheralBackend {}
extension TracingRole: PairingBackend where Base: PairingBackend {}

/// Records each event on its way to the receiver.
final class TracingSink<Event: TraceMessage>: EventSink {
    private let base: any EventSink<Event>
    private let trace: BackendTrace
    private let source: BackendTrace.Source

    init(_ base: any EventSink<Event>, trace: BackendTrace, source: BackendTrace.Source) {
        self.base = base
        self.trace = trace
        self.source = source
    }

    var label: String { base.label }

    func deliver(_ event: Event) {
        trace.add(event, from: source)
        // The receiver's queue is the first place without a lock of the backend.
        base.afterDelivery { [trace] in trace.flush() }
        base.deliver(event)
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { base.afterDelivery(body) }
}
