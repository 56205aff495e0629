import BluetoothBackend

/// A role of a radio whose commands and events are noted.
final class TracingRole<Base: RoleBackend>: RoleBackend where Base.Command: Traceable, Base.Event: Traceable {
    private let base: Base
    private let trace: BackendTrace
    private let source: String

    init(_ base: Base, trace: BackendTrace, source: String) {
        self.base = base
        self.trace = trace
        self.source = source
    }

    func activate(_ sink: any EventSink<Base.Event>) {
        configure("activate")
        base.activate(TracingSink(sink, trace: trace, source: source))
    }

    func submit(_ command: Base.Command) {
        trace.add(command.traceCategory, source: source) { [trace] in
            command.traceText(showsValues: trace.showsValues)
        }
        trace.flush()
        base.submit(command)
    }

    func invalidate() {
        configure("invalidate")
        base.invalidate()
    }

    private func configure(_ text: String) {
        trace.add(.configuration, source: source) { text }
        trace.flush()
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
