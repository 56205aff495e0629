import BluetoothBackend

/// Notes each event on its way to the receiver and holds none back.
final class TracingSink<Event: Sendable & Traceable>: EventSink {
    private let base: any EventSink<Event>
    private let trace: BackendTrace
    private let source: String

    init(_ base: any EventSink<Event>, trace: BackendTrace, source: String) {
        self.base = base
        self.trace = trace
        self.source = source
    }

    var label: String { base.label }

    func deliver(_ event: Event) {
        trace.add(event.traceCategory, source: source) { [trace] in event.traceText(showsValues: trace.showsValues) }
        // The receiver's turn is the first moment that is under no lock of the radio's.
        base.afterDelivery { [trace] in trace.flush() }
        base.deliver(event)
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { base.afterDelivery(body) }
}
