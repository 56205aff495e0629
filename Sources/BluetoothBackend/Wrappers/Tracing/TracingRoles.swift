/// What the roles of a ``TracingBackend`` share.
private struct Tracer: Sendable {
    let trace: BackendTrace
    let source: String

    func note(_ message: some Traceable & Sendable) {
        trace.add(message.traceCategory, source: source) { [trace] in
            message.traceText(showsValues: trace.showsValues)
        }
        trace.flush()
    }

    func configure(_ text: String) {
        trace.add(.configuration, source: source) { text }
        trace.flush()
    }

    func sink<Event: Sendable & Traceable>(_ base: any EventSink<Event>) -> TracingSink<Event> {
        configure("activate")
        return TracingSink(base, trace: trace, source: source)
    }
}

/// A central role whose commands and events are noted.
final class TracingCentral: CentralBackend {
    private let base: any CentralBackend
    private let tracer: Tracer

    init(_ base: any CentralBackend, trace: BackendTrace, source: String) {
        self.base = base
        tracer = Tracer(trace: trace, source: source)
    }

    func activate(_ sink: any EventSink<CentralEvent>) { base.activate(tracer.sink(sink)) }

    func submit(_ command: CentralCommand) {
        tracer.note(command)
        base.submit(command)
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { base.knownPeers(ids) }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        base.connectedPeers(offering: services)
    }

    func invalidate() {
        tracer.configure("invalidate")
        base.invalidate()
    }
}

/// A peripheral role whose commands and events are noted.
final class TracingPeripheral: PeripheralBackend {
    private let base: any PeripheralBackend
    private let tracer: Tracer

    init(_ base: any PeripheralBackend, trace: BackendTrace, source: String) {
        self.base = base
        tracer = Tracer(trace: trace, source: source)
    }

    func activate(_ sink: any EventSink<PeripheralEvent>) { base.activate(tracer.sink(sink)) }

    func submit(_ command: PeripheralCommand) {
        tracer.note(command)
        base.submit(command)
    }

    func invalidate() {
        tracer.configure("invalidate")
        base.invalidate()
    }
}

/// Pairing whose commands and events are noted.
final class TracingPairing: PairingBackend {
    private let base: any PairingBackend
    private let tracer: Tracer

    init(_ base: any PairingBackend, trace: BackendTrace, source: String) {
        self.base = base
        tracer = Tracer(trace: trace, source: source)
    }

    func activate(_ sink: any EventSink<PairingEvent>) { base.activate(tracer.sink(sink)) }

    func submit(_ command: PairingCommand) {
        tracer.note(command)
        base.submit(command)
    }

    func invalidate() {
        tracer.configure("invalidate")
        base.invalidate()
    }
}
