import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothValues

/// A link of a host outside of the emulator as the peripheral: the client's side of the Attribute Protocol.
///
/// Used on the queue of the link layer only.
final class PeripheralLink {
    let handle: UInt16
    /// The number by which taps report the link.
    let number: UInt32
    let central: DeviceAddress
    private(set) var isEnded = false
    private unowned let device: ExternalDevice
    private let emit: (LinkLayerEvent) -> Void
    private var client: ATTClient
    /// Answers the requests of a host whose stack is a client, too: the central serves nothing.
    private var server: ATTServer
    private var answers: [Int: (ATTClient.Outcome) -> Void] = [:]
    private var lastNumber = 0
    private var isDiscovered = false
    private var waiters: [() -> Void] = []

    init(
        _ handle: UInt16, _ connection: TappedConnection, maximumMTU: Int, of device: ExternalDevice,
        emit: @escaping (LinkLayerEvent) -> Void
    ) {
        (self.handle, number, central) = (handle, connection.link, connection.central.address)
        (self.device, self.emit) = (device, emit)
        client = ATTClient(maximumMTU: maximumMTU)
        server = ATTServer(AttributeTable(), maximumMTU: maximumMTU)
    }

    // MARK: Operations

    func perform(_ operation: ATTClient.Operation, _ answer: @escaping (ATTClient.Outcome) -> Void) {
        guard !isEnded else { return answer(.failed(.unlikelyError)) }
        lastNumber += 1
        answers[lastNumber] = answer
        perform(client.perform(operation, lastNumber))
    }

    /// Discovers the services of the host.
    func discover(isChange: Bool = false) {
        perform(.discover) { [weak self] outcome in
            guard let self else { return }
            if case .discovered(let services, let name) = outcome {
                device.serve(services, deviceName: name, isChange: isChange)
            }
            isDiscovered = true
            let waiting = waiters
            waiters = []
            for waiter in waiting { waiter() }
        }
    }

    /// Calls `body` when the services are known, or the link has ended.
    func whenDiscovered(_ body: @escaping () -> Void) {
        if isDiscovered { body() } else { waiters.append(body) }
    }

    /// Fails everything that is outstanding.
    func end() {
        isEnded = true
        perform(client.end())
    }

    // MARK: Packets

    func receive(_ payload: [UInt8], on channel: UInt16) {
        switch channel {
        case L2CAPChannel.att:
            // The host sends requests, too, if its stack is a client.
            guard let pdu = ATTPDU(payload), !pdu.isOfClient else { return answer(payload) }
            perform(client.receive(pdu))
        case L2CAPChannel.signaling:
            guard let reply = SignalingReply(payload, isCentral: false) else { return }
            emit(.received(handle: handle, channel: channel, reply.bytes))
            if let parameters = reply.parameters { device.update(parameters, on: number) }
        default: break
        }
    }

    private func answer(_ payload: [UInt8]) {
        var actions = server.receive(payload)
        while let action = actions.first {
            actions.removeFirst()
            switch action {
            case .send(let pdu): emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .exchange: actions += server.completed(.written)
            case .request, .writeCommand: break
            }
        }
    }

    private func perform(_ actions: [ATTClient.Action]) {
        for action in actions {
            switch action {
            case .send(let pdu): emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .complete(let number, let outcome): answers.removeValue(forKey: number)?(outcome)
            case .notified(let handle, let value, _): device.notify(value, handle: handle, on: number)
            case .servicesChanged: discover(isChange: true)
            }
        }
    }
}
