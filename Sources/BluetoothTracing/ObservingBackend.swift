package import BluetoothBackend
import BluetoothSupport

/// A backend around a backend that passes a copy of the commands and events of its central roles to an observer.
///
/// Commands and events pass unchanged and in order.
package final class ObservingBackend: BluetoothBackend {
    private let base: any BluetoothBackend
    private let messages: ObservedMessages

    /// Creates a wrapper; several wrappers may share an observer.
    package init(around base: any BluetoothBackend, _ observer: any CentralObserver) {
        self.base = base
        messages = ObservedMessages(observer, base)
    }

    package var name: String { base.name }
    package var clock: any BackendClock { base.clock }
    package func authorization() -> AuthorizationStatus { base.authorization() }
    package func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }
    package var announcesSentBursts: Bool { base.announcesSentBursts }

    package func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        observed(base.makeCentral(options), ObservedRole(clock: base.clock))
    }

    package func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { base.makePeripheral(options) }
    package func makePairing() -> any PairingBackend { base.makePairing() }

    private func observed(_ base: some CentralBackend, _ role: ObservedRole) -> any CentralBackend {
        ObservedCentral(base, messages, role)
    }
}

/// The observer of an ``ObservingBackend``.
package protocol CentralObserver: Sendable {
    /// Receives messages in the order in which they passed, outside all locks of the backend; only several wrappers
    /// call it concurrently.
    func observe(_ messages: [ObservedMessage])
}

/// A command or an event of a central role, or a result that it returned to a manager directly.
package struct ObservedMessage: Sendable {
    package enum Content: Sendable {
        case command(CentralCommand)
        case event(CentralEvent)
        /// Peers that a manager requested.
        case peers([PeerSummary])
        /// The end of the manager and its links.
        case ended
    }

    /// The number of the role, within the process.
    package let role: Int
    /// The name of the backend.
    package let backend: String
    /// The time on the backend's clock.
    package let time: Duration
    package let content: Content

    package init(role: Int, backend: String, time: Duration, _ content: Content) {
        (self.role, self.backend, self.time, self.content) = (role, backend, time, content)
    }
}

private struct ObservedRole: Sendable {
    private static let lastNumber = Lock(0)

    let number: Int
    let clock: any BackendClock

    init(clock: any BackendClock) {
        self.clock = clock
        number = Self.lastNumber.withLock { last in
            last += 1
            return last
        }
    }
}

/// The messages that the observer has yet to receive, outside the backend's locks.
private final class ObservedMessages: Sendable {
    private let observer: any CentralObserver
    private let backend: any BluetoothBackend
    private let pending = DeferredMessages<(ObservedRole, ObservedMessage.Content)>()

    init(_ observer: any CentralObserver, _ backend: any BluetoothBackend) {
        (self.observer, self.backend) = (observer, backend)
    }

    func append(_ content: ObservedMessage.Content, _ role: ObservedRole) {
        pending.append((role, content))
    }

    /// Passes the messages on, unless another thread is doing so.
    func flush() {
        pending.handle { messages in
            let backend = backend.name
            observer.observe(
                messages.map { role, content in
                    ObservedMessage(role: role.number, backend: backend, time: role.clock.now, content)
                })
        }
    }
}

private final class ObservedCentral<Base: CentralBackend>: CentralBackend {
    private let base: Base
    private let messages: ObservedMessages
    private let role: ObservedRole

    init(_ base: Base, _ messages: ObservedMessages, _ role: ObservedRole) {
        (self.base, self.messages, self.role) = (base, messages, role)
    }

    func activate(_ sink: any EventSink<CentralEvent>) { base.activate(ObservedSink(sink, messages, role)) }

    func submit(_ command: CentralCommand) {
        messages.append(.command(command), role)
        messages.flush()
        base.submit(command)
    }

    func invalidate() {
        messages.append(.ended, role)
        messages.flush()
        base.invalidate()
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { observed(base.knownPeers(ids)) }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        observed(base.connectedPeers(offering: services))
    }

    private func observed(_ peers: [PeerSummary]) -> [PeerSummary] {
        messages.append(.peers(peers), role)
        messages.flush()
        return peers
    }
}

private final class ObservedSink: EventSink {
    private let base: any EventSink<CentralEvent>
    private let messages: ObservedMessages
    private let role: ObservedRole

    init(_ base: any EventSink<CentralEvent>, _ messages: ObservedMessages, _ role: ObservedRole) {
        (self.base, self.messages, self.role) = (base, messages, role)
    }

    var label: String { base.label }

    func deliver(_ event: CentralEvent) {
        messages.append(.event(event), role)
        // The receiver's queue is the first place without a lock of the backend.
        base.afterDelivery { [messages] in messages.flush() }
        base.deliver(event)
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { base.afterDelivery(body) }
}
