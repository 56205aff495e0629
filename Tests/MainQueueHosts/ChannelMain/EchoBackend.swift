import BluetoothBackend
import BluetoothSupport
import CoreBluetooth
import Synchronization

/// A backend with one peer, whose channels return what they receive.
final class EchoBackend: BluetoothBackend {
    static let peer = PeerID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))

    private struct NoTime: BackendClock, BackendTimer {
        var now: Duration { .zero }
        var date: Date { Date(timeIntervalSinceReferenceDate: 0) }
        func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer { self }
        func cancel() {}
    }

    let name = "echo"
    var clock: any BackendClock { NoTime() }
    func authorization() -> AuthorizationStatus { .allowed }
    func supports(_ feature: BackendFeature) -> Bool { feature == .channels }
    func makeCentral(_ options: RoleOptions) -> any CentralBackend { EchoCentral() }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { NoPeripheral() }
    func makePairing() -> any PairingBackend { NoPairing() }
}

private final class EchoCentral: CentralBackend {
    private let sink = Lock<(any EventSink<CentralEvent>)?>(nil)
    private let queue = DispatchQueue(label: "echo")
    private let link = LinkID(rawValue: 1)
    private let window = 700

    func activate(_ sink: any EventSink<CentralEvent>) {
        self.sink.withLock { $0 = sink }
        send(.stateChanged(.poweredOn))
    }

    func submit(_ command: CentralCommand) {
        switch command {
        case .connect(let peer, let operation, _):
            let parameters = LinkParameters(mtu: 100, writeCredits: 1)
            send(.connected(peer: peer, link: link, operation: operation, parameters: parameters))
        case .request(let link, let operation, .openChannel):
            send(
                .response(link: link, operation: operation, .channel(ChannelID(rawValue: 1), credits: window)))
        case .channel(let channel, .send(let data)):
            send(.channel(channel, .received(data)))
        case .channel(let channel, .consumed(let bytes)):
            send(.channel(channel, .credits(bytes)))
        default: break
        }
    }

    private func send(_ event: CentralEvent) {
        let sink = sink.withLock { $0 }
        queue.async { sink?.deliver(event) }
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { ids.map { PeerSummary(id: $0, name: "Echo") } }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] { [] }
    func invalidate() { sink.withLock { $0 = nil } }
}

private final class NoPeripheral: PeripheralBackend {
    func activate(_ sink: any EventSink<PeripheralEvent>) { sink.deliver(.stateChanged(.unsupported)) }
    func submit(_ command: PeripheralCommand) {}
    func invalidate() {}
}

private final class NoPairing: PairingBackend {
    func activate(_ sink: any EventSink<PairingEvent>) {}
    func submit(_ command: PairingCommand) {}
    func invalidate() {}
}
