import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothValues

/// A link of a host outside of the emulator as the peripheral: the client's side of the Attribute Protocol.
///
/// Used on the queue of the link layer only.
final class ExternalPeripheralLink: ChannelWorld {
    let handle: UInt16
    private let connection: TappedConnection
    /// The Security Manager of the central.
    let security: LinkSecurity
    let channels: LinkChannels
    /// Another host outside of the emulator waits for the answer to its key request.
    private var keyAnswer: (@Sendable ([UInt8]?) -> Void)?
    /// Whether the central is a host outside of the emulator, too: the world carries the packets.
    let isBetweenExternalHosts: Bool
    private(set) var isEnded = false
    private unowned let device: ExternalDevice
    private unowned let layer: EmulatedLinkLayer
    private var client: ATTClient
    /// Answers the requests of a host whose stack is a client, too: the central serves nothing.
    private var server: ATTServer
    private var pending = PendingOperations()

    private struct PendingOperations {
        var answers: [Int: (ATTClient.Outcome) -> Void] = [:]
        var lastNumber = 0
        var isDiscovered = false
        /// The closures that wait for the discovery.
        var waiters: [() -> Void] = []
    }

    init(
        _ handle: UInt16, _ connection: TappedConnection, address: HCIAddress, of device: ExternalDevice,
        in layer: EmulatedLinkLayer
    ) {
        (self.handle, self.connection) = (handle, connection)
        (self.device, self.layer) = (device, layer)
        isBetweenExternalHosts =
            connection.central.host.map { ExternalHosts.shared.contains($0, of: layer.emulator) } ?? false
        client = ATTClient(maximumMTU: connection.mtu)
        server = ATTServer(AttributeList(), maximumMTU: connection.mtu)
        channels = LinkChannels(handle, isCentral: true, in: layer)
        security = LinkSecurity(
            LinkSecurity.Ends(
                handle: handle, number: connection.link, side: .central,
                emulated: HCIAddress(connection.central.address), external: address),
            connection.central.host.map(PairingUser.host) ?? .device(PairingDescription()), connection.security,
            of: layer)
        channels.begin(self)
    }

    /// The number by which taps report the link.
    var number: UInt32 { connection.link }
    var central: DeviceAddress { connection.central.address }

    // MARK: Operations

    func perform(_ operation: ATTClient.Operation, _ answer: @escaping (ATTClient.Outcome) -> Void) {
        guard !isEnded else { return answer(.failed(.unlikelyError)) }
        pending.lastNumber += 1
        pending.answers[pending.lastNumber] = answer
        perform(client.perform(operation, pending.lastNumber))
    }

    func begin() {
        guard !isBetweenExternalHosts else { return }
        security.begin()
        discover()
    }

    /// Discovers the services of the host.
    private func discover(isChange: Bool = false) {
        perform(.discover) { [weak self] outcome in
            guard let self else { return }
            if case .discovered(let services, let name) = outcome {
                device.serve(services, deviceName: name, isChange: isChange)
            }
            pending.isDiscovered = true
            for waiter in exchange(&pending.waiters, with: []) { waiter() }
        }
    }

    /// Calls `body` when the services are known, or the link has ended.
    func whenDiscovered(_ body: @escaping () -> Void) {
        if pending.isDiscovered { body() } else { pending.waiters.append(body) }
    }

    /// Fails everything that is outstanding.
    func end() {
        isEnded = true
        security.end()
        channels.end()
        keyAnswer.take()?(nil)
        perform(client.end())
    }

    /// - Parameter reason: The error code of HCI.
    func close(reason: UInt8 = HCIStatus.remoteUserTerminatedConnection.rawValue) {
        let isForSecurity = reason == HCIStatus.authenticationFailure.rawValue
        layer.emulator.control(link: number, .close(isForSecurity ? .authentication : .remote))
    }

    // MARK: Channels

    func open(_ request: ChannelRequest, _ answer: @escaping (ChannelResult) -> Void) {
        guard !isEnded else { return answer(.noResources) }
        channels.open(request.psm, as: request.channel, answer)
    }

    /// The world has no channels that a peripheral opens.
    func request(_ number: Int, psm: UInt16) { channels.refuse(number, .unsupportedPSM) }

    func submit(_ command: ChannelCommand, on channel: ChannelID) { device.submit(command, on: channel) }

    func update(_ parameters: HCIConnectionParameters) { device.update(parameters, on: number) }

    // MARK: Encryption

    /// Asks the host for the key with which another host encrypts the link.
    func requestKey(
        random: UInt64, diversifier: UInt16, _ answer: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        keyAnswer?(nil)
        keyAnswer = answer
        layer.emit(.keyRequested(handle: handle, random: random, diversifier: diversifier))
    }

    func answerKeyRequest(_ key: [UInt8]?) {
        if let keyAnswer = keyAnswer.take() {
            keyAnswer(key)
        } else if !security.answerKeyRequest(key) {
            layer.endForWrongKey(handle)
        }
    }

    /// Handles the comparison with the key of another host.
    func keysCompared(areEqual: Bool) {
        if areEqual {
            layer.emit(.encryptionChanged(handle: handle, status: 0))
        } else {
            layer.endForWrongKey(handle)
        }
    }

    // MARK: Packets

    func send(_ payload: [UInt8], on channel: UInt16) {
        guard !isBetweenExternalHosts else {
            return layer.emulator.control(link: number, .send(.peripheral, channel: channel, payload))
        }
        defer { layer.emit(.sent(handle: handle)) }
        switch channel {
        case L2CAPChannel.att:
            // The host sends requests, too, if its stack is a client.
            guard let pdu = ATTPDU(payload), !pdu.isOfClient else { return answer(payload) }
            perform(client.receive(pdu))
        case L2CAPChannel.securityManager: security.receive(payload)
        default: channels.receive(payload, on: channel)
        }
    }

    private func answer(_ payload: [UInt8]) {
        var actions = server.receive(payload)
        while let action = actions.first {
            actions.removeFirst()
            switch action {
            case .send(let pdu): layer.emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .exchange: actions += server.completed(.written)
            case .request, .writeCommand: break
            }
        }
    }

    private func perform(_ actions: [ATTClient.Action]) {
        for action in actions {
            switch action {
            case .send(let pdu): layer.emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .complete(let number, let outcome): pending.answers.removeValue(forKey: number)?(outcome)
            case .notified(let handle, let value, _): device.notify(value, handle: handle, on: number)
            case .servicesChanged: discover(isChange: true)
            }
        }
    }
}
