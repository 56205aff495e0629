import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// An emulator whose centrals lose a subscription when it notifies a single byte, 0xFF.
final class SubscriptionEndingBackend: BluetoothBackend {
    private let emulator: Emulator

    init(_ emulator: Emulator) { self.emulator = emulator }

    var name: String { emulator.name }
    var clock: any BackendClock { emulator.clock }
    func authorization() -> AuthorizationStatus { emulator.authorization() }
    func supports(_ feature: BackendFeature) -> Bool { emulator.supports(feature) }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { emulator.makePeripheral(options) }
    func makePairing() -> any PairingBackend { emulator.makePairing() }

    func makeCentral(_ options: RoleOptions) -> any CentralBackend { Central(emulator.makeCentral(options)) }

    private final class Central: CentralBackend {
        private let central: any CentralBackend

        init(_ central: any CentralBackend) { self.central = central }

        func activate(_ sink: any EventSink<CentralEvent>) { central.activate(Sink(sink)) }
        func submit(_ command: CentralCommand) { central.submit(command) }
        func invalidate() { central.invalidate() }
        func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { central.knownPeers(ids) }
        func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
            central.connectedPeers(offering: services)
        }
    }

    private final class Sink: EventSink {
        private let sink: any EventSink<CentralEvent>

        init(_ sink: any EventSink<CentralEvent>) { self.sink = sink }

        var label: String { sink.label }
        func deliver(_ event: CentralEvent) { sink.deliver(Self.changed(event)) }
        func append(_ event: CentralEvent) -> (any PendingDelivery)? { sink.append(Self.changed(event)) }
        func afterDelivery(_ body: @escaping @Sendable () -> Void) { sink.afterDelivery(body) }

        private static func changed(_ event: CentralEvent) -> CentralEvent {
            guard case .valueNotified(let link, let attribute, Data([0xFF])) = event else { return event }
            let error = BackendError(.unknown, operation: "StartNotify")
            return .subscriptionEnded(link: link, attribute: attribute, error: error)
        }
    }
}
