package import BluetoothBackend
import BluetoothSupport

/// A backend around a backend that passes a copy of the commands and events of its central roles to an observer.
///
/// It changes nothing: events reach the receiver in the same batches and on the same thread as without it.
package final class ObservingBackend: BluetoothBackend {
    private let base: any BluetoothBackend
    private let observe: @Sendable ([ObservedMessage]) -> Void
    /// The messages that the observer has not received yet: events may come under the backend's lock, and are passed on
    /// outside.
    private let pending = DeferredMessages<(role: Int, time: Duration, content: ObservedMessage.Content)>()

    /// Creates a wrapper; several wrappers may share an observer.
    ///
    /// - Parameter observe: Receives messages in the order in which they passed, outside all locks of the backend; only
    ///   several wrappers call it concurrently.
    package init(around base: any BluetoothBackend, _ observe: @escaping @Sendable ([ObservedMessage]) -> Void) {
        (self.base, self.observe) = (base, observe)
    }

    package var name: String { base.name }
    package var clock: any BackendClock { base.clock }
    package func authorization() -> AuthorizationStatus { base.authorization() }
    package func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }
    package var announcesSentBursts: Bool { base.announcesSentBursts }

    package func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        observed(base.makeCentral(options))
    }

    package func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { base.makePeripheral(options) }
    package func makePairing() -> any PairingBackend { base.makePairing() }

    private func observed(_ role: some CentralBackend) -> any CentralBackend {
        InterposedRole(role, ObservedRole(self))
    }

    // MARK: Messages

    fileprivate func append(_ role: Int, _ time: Duration, _ content: ObservedMessage.Content) {
        pending.append((role, time, content))
    }

    /// Passes the messages on, unless another thread is doing so.
    fileprivate func flush() {
        pending.handle { messages in
            let name = name
            observe(messages.map { ObservedMessage(role: $0.role, backend: name, time: $0.time, $0.content) })
        }
    }
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
    /// The time on the backend's clock at which the message passed.
    package let time: Duration
    package let content: Content

    package init(role: Int, backend: String, time: Duration, _ content: Content) {
        (self.role, self.backend, self.time, self.content) = (role, backend, time, content)
    }
}

/// Passes on what passes a central role.
private struct ObservedRole: RoleInterposer {
    typealias Command = CentralCommand
    typealias Event = CentralEvent

    private static let lastNumber = Lock(0)

    private let backend: ObservingBackend
    private let clock: any BackendClock
    private let number: Int

    init(_ backend: ObservingBackend) {
        (self.backend, clock) = (backend, backend.clock)
        number = Self.lastNumber.withLock { last in
            last += 1
            return last
        }
    }

    func willSubmit(_ command: CentralCommand) { pass(.command(command)) }
    func willDeliver(_ event: CentralEvent) { backend.append(number, clock.deliveryTime, .event(event)) }
    func handleEvents() { backend.flush() }
    func didReturn(_ peers: [PeerSummary]) { pass(.peers(peers)) }
    func willInvalidate() { pass(.ended) }

    private func pass(_ content: ObservedMessage.Content) {
        backend.append(number, clock.now, content)
        backend.flush()
    }
}
