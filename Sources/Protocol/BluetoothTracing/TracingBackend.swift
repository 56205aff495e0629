public import BluetoothBackend
import BluetoothSupport

/// A backend around a backend that records each command and each event in a ``BackendTrace``.
///
/// It changes nothing: events reach the receiver in the same batches and on the same thread as without it.
/// Values and addresses are private unless `showsValues` is true.
public final class TracingBackend: BluetoothBackend {
    /// The recorded lines.
    public let trace: BackendTrace
    private let base: any BluetoothBackend

    /// Creates a trace around a backend.
    ///
    /// - Parameters:
    ///   - base: The wrapped backend.
    ///   - destination: The destination of lines.
    ///   - filter: The lines that are recorded; all by default.
    ///   - showsValues: Whether values and addresses are written.
    public convenience init(
        around base: any BluetoothBackend, to destination: BackendTrace.Destination,
        filter: TraceFilter = TraceFilter(),
        showsValues: Bool = false
    ) {
        self.init(
            around: base, BackendTrace(destination, filter: filter, clock: base.clock, showsValues: showsValues))
    }

    /// Creates a backend that adds its lines to a trace, which several backends may share.
    package init(around base: any BluetoothBackend, _ trace: BackendTrace) {
        self.base = base
        self.trace = trace
    }

    /// The wrapped backend's name.
    public var name: String { base.name }

    /// The wrapped backend's time.
    public var clock: any BackendClock { base.clock }

    /// The wrapped backend's permission.
    public func authorization() -> AuthorizationStatus { base.authorization() }

    /// The features of the wrapped backend.
    public func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }

    /// Whether managers of the wrapped backend announce that everything was sent.
    public var announcesSentBursts: Bool { base.announcesSentBursts }

    /// Creates a central role whose commands and events are recorded.
    public func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        let source = newRole("central", "makeCentral", options)
        return central(base.makeCentral(options), source)
    }

    /// Creates a peripheral role whose commands and events are recorded.
    public func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        let source = newRole("peripheral", "makePeripheral", options)
        return peripheral(base.makePeripheral(options), source)
    }

    /// Creates a pairing role whose commands and events are recorded.
    public func makePairing() -> any PairingBackend {
        pairing(base.makePairing(), newRole("pairing", "makePairing"))
    }

    private func central(_ base: some CentralBackend, _ source: BackendTrace.Source) -> any CentralBackend {
        InterposedRole(base, TracedRole(trace, source))
    }

    private func peripheral(_ base: some PeripheralBackend, _ source: BackendTrace.Source) -> any PeripheralBackend {
        InterposedRole(base, TracedRole(trace, source))
    }

    private func pairing(_ base: some PairingBackend, _ source: BackendTrace.Source) -> any PairingBackend {
        InterposedRole(base, TracedRole(trace, source))
    }

    private func newRole(_ role: String, _ name: String, _ options: RoleOptions? = nil) -> BackendTrace.Source {
        let source = BackendTrace.Source(
            role: role, number: trace.nextRole(), host: options?.adapter, clock: base.clock)
        var line = TraceLine(name, showsValues: trace.showsValues)
        line.add("adapter", options?.adapter)
        line.add("restoreIdentifier", options?.restoreIdentifier)
        trace.add(line, .configuration, from: source)
        return source
    }
}

/// Writes what passes a role into a trace.
private struct TracedRole<Command: TraceMessage, Event: TraceMessage>: RoleInterposer {
    let trace: BackendTrace
    let source: BackendTrace.Source

    init(_ trace: BackendTrace, _ source: BackendTrace.Source) { (self.trace, self.source) = (trace, source) }

    func willActivate() { trace.add(TraceLine("activate", showsValues: false), .configuration, from: source) }

    func willSubmit(_ command: Command) {
        trace.add(command, from: source)
        trace.flush()
    }

    func willDeliver(_ event: Event) { trace.add(event, from: source) }
    func handleEvents() { trace.flush() }
    func willInvalidate() { trace.add(TraceLine("invalidate", showsValues: false), .configuration, from: source) }
}
