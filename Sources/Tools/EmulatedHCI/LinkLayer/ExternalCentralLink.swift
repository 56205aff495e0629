import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch

/// A link of a host outside of the emulator as the central: the server's side of the Attribute Protocol.
///
/// Two hosts outside of the emulator serve themselves: the world carries their packets.
// Invariant: used on the queue of the link layer only.
final class ExternalCentralLink: ChannelWorld, @unchecked Sendable {
    let handle: UInt16
    let id: LinkID
    private let peer: PeerID
    private let connection: TappedConnection
    private unowned let side: CentralSide
    private unowned let layer: EmulatedLinkLayer
    /// The other end, if it is a host outside of the emulator, too.
    private let other: EmulatedLinkLayer?
    let security: LinkSecurity
    let channels: LinkChannels
    private var server: ATTServer
    private var commands: CommandQueue
    private var isEnded = false

    /// The write commands that wait for a credit, fewer than a controller has buffers.
    private struct CommandQueue {
        var credits: Int
        var waiting: [(attribute: AttributeID, value: Data)] = []
        /// The number of packets whose transmission is not reported because of them.
        var unsent = 0
    }

    init(
        _ id: LinkID, _ peer: PeerID, _ connection: TappedConnection, ownAddress: HCIAddress,
        _ parameters: LinkParameters, _ user: PairingUser, of side: CentralSide, in layer: EmulatedLinkLayer
    ) {
        (handle, self.id, self.peer, self.connection) = (layer.nextHandle(), id, peer, connection)
        (self.side, self.layer) = (side, layer)
        other = ExternalHosts.shared.owner(ofDevice: connection.device, in: layer.emulator)
        server = ATTServer(layer.emulator.attributes(ofDevice: connection.device), maximumMTU: parameters.mtu)
        security = LinkSecurity(
            LinkSecurity.Ends(
                handle: handle, number: connection.link, side: .peripheral,
                emulated: HCIAddress(connection.peripheral.address), external: ownAddress),
            user, connection.security, of: layer)
        channels = LinkChannels(handle, isCentral: false, in: layer)
        commands = CommandQueue(credits: parameters.writeCredits)
    }

    /// The number by which taps report the link.
    var number: UInt32 { connection.link }

    func begin() {
        guard other == nil else { return }
        channels.begin(self)
        security.willResume = { [unowned self] in
            let values = security.subscriptions
            for attribute in side.central.rememberedSubscriptions(of: id) {
                if let value = values[attribute] { server.restore(value, of: attribute) }
            }
        }
        security.begin()
    }

    func close() {
        end()
        side.central.role.submit(.disconnect(peer: peer))
    }

    /// Handles the end of the link.
    func end() {
        isEnded = true
        if other == nil { security.subscriptions = server.subscriptions }
        security.end()
        channels.end()
    }

    // MARK: Packets

    func send(_ payload: [UInt8], on channel: UInt16) {
        guard other == nil else {
            return layer.emulator.control(link: number, .send(.central, channel: channel, payload))
        }
        switch channel {
        case L2CAPChannel.att:
            perform(server.receive(payload))
            // A write command without a credit holds up the packets behind it.
            guard commands.waiting.isEmpty else {
                commands.unsent += 1
                return
            }
        case L2CAPChannel.securityManager: security.receive(payload)
        default: channels.receive(payload, on: channel)
        }
        layer.emit(.sent(handle: handle))
    }

    private func perform(_ actions: [ATTServer.Action]) {
        for action in actions {
            switch action {
            case .send(let pdu): layer.emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .exchange: side.central.exchange(on: id, beginATTRequest())
            case .request(let request):
                side.central.role.submit(.request(link: id, operation: beginATTRequest(), request))
            case .writeCommand(let attribute, let value):
                commands.waiting.append((attribute, value))
                sendCommands()
            }
        }
    }

    private func beginATTRequest() -> OperationID {
        side.beginRequest(of: self) { [weak self] response in
            guard let self else { return }
            perform(server.completed(response))
        }
    }

    /// Sends the write commands for which the link has credits.
    private func sendCommands() {
        while commands.credits > 0, let command = commands.waiting.first {
            commands.waiting.removeFirst()
            commands.credits -= 1
            side.central.role.submit(.writeCommand(link: id, attribute: command.attribute, value: command.value))
        }
        guard commands.waiting.isEmpty else { return }
        for _ in 0..<commands.unsent { layer.emit(.sent(handle: handle)) }
        commands.unsent = 0
    }

    func readSignalStrength() {
        let operation = side.beginRequest(of: self) { [layer, handle] response in
            // An adapter may not be able to measure it.
            let strength = if case .rssi(let rssi) = response { Int8(clamping: rssi) } else { Int8(127) }
            layer.emit(.signalStrength(handle: handle, strength))
        }
        side.central.role.submit(.request(link: id, operation: operation, .readRSSI))
    }

    // MARK: Channels

    func request(_ number: Int, psm: UInt16) {
        let operation = side.beginRequest(of: self) { [channels] response in
            switch response {
            case .channel(let id, let credits): channels.accept(number, as: id, credits: credits)
            case .failure(let error): channels.refuse(number, ChannelResult(error))
            default: channels.refuse(number, .noResources)
            }
        }
        side.central.role.submit(.request(link: id, operation: operation, .openChannel(psm: psm)))
    }

    func submit(_ command: ChannelCommand, on channel: ChannelID) {
        side.central.role.submit(.channel(channel, command))
    }

    /// A peripheral grants no parameters.
    func update(_ parameters: HCIConnectionParameters) {}

    // MARK: Events

    func notified(_ attribute: AttributeID, _ value: Data) { perform(server.notified(attribute, value)) }

    func servicesChanged() {
        perform(server.servicesChanged(to: layer.emulator.attributes(ofDevice: connection.device)))
    }

    func grantCredits(_ count: Int) {
        commands.credits += count
        sendCommands()
    }

    // MARK: Encryption

    func encrypt(key: [UInt8], random: UInt64, diversifier: UInt16) {
        guard let other else {
            if !security.encrypt(key: key, random: random, diversifier: diversifier) { layer.endForWrongKey(handle) }
            return
        }
        // Retained, because this host may leave before the other one has answered.
        let layer = self.layer
        let answered: @Sendable ([UInt8]?) -> Void = { answer in
            layer.queue.async { self.keyAnswered(answer, key, other) }
        }
        other.queue.async { [number] in
            guard let link = other.peripheral?.link(number: number) else { return answered(nil) }
            link.requestKey(random: random, diversifier: diversifier, answered)
        }
    }

    /// Handles the key of the other host: the link is encrypted if the keys are equal.
    private func keyAnswered(_ answer: [UInt8]?, _ key: [UInt8], _ other: EmulatedLinkLayer) {
        guard !isEnded else { return }
        guard let answer else {
            return layer.emit(.encryptionChanged(handle: handle, status: HCIStatus.pinOrKeyMissing.rawValue))
        }
        let isEqual = answer == key
        other.queue.async { [number] in other.peripheral?.link(number: number)?.keysCompared(areEqual: isEqual) }
        guard isEqual else { return layer.endForWrongKey(handle) }
        layer.emulator.control(link: number, .setSecurity(.encrypted))
        layer.emit(.encryptionChanged(handle: handle, status: 0))
    }
}

extension Emulator {
    /// The attributes of a device for its clients; none if it was removed.
    fileprivate func attributes(ofDevice number: UInt32) -> AttributeList {
        guard let device = device(number: number), let services = device.attributes?.services else {
            return AttributeList()
        }
        return AttributeList(services, device.attributesByHandle)
    }
}
