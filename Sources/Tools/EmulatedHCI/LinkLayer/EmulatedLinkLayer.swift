import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Dispatch
import Logging

/// Performs the commands of a controller in an emulated world: its host is one of the world's hosts.
// Invariant: all variables are used on `queue` only.
final class EmulatedLinkLayer: @unchecked Sendable {
    static let logger = Logger(label: "EmulatedHCI")

    /// The error codes of links and connects (Core Specification, Vol 1, Part F, 1.3).
    enum Code {
        static let unknownConnection: UInt8 = 0x02
        static let keyMissing: UInt8 = 0x06
        static let timeout: UInt8 = 0x08
        static let authenticationFailure: UInt8 = 0x05
        static let remoteUserTerminated: UInt8 = 0x13
        static let remotePoweredOff: UInt8 = 0x15
        static let localHostTerminated: UInt8 = 0x16
        static let wrongKey: UInt8 = 0x3D
        static let connectionFailed: UInt8 = 0x3E
    }

    let host: EmulatedHost
    let queue: DispatchQueue
    private let receive: @Sendable (LinkLayerEvent) -> Void
    private let central: ExternalCentral
    private var tap: EmulatorTap?
    /// The keys of pairings with the host.
    var bonds: SecurityBonds
    private var air = HeardDevices()
    private var scanTimer: (any BackendTimer)?
    private var connect: PendingConnect?
    private var centralLinks: [UInt16: CentralLink] = [:]
    private var advertisers: [UInt8: ExternalDevice] = [:] {
        didSet {
            let numbers = Set(advertisers.values.compactMap(\.number))
            deviceNumbers.withLock { $0 = numbers }
        }
    }
    private let deviceNumbers = Lock(Set<UInt32>())
    private var operations: [OperationID: PendingOperation] = [:]
    /// The answers that other hosts wait for, by the handle of the link.
    private var keyRequests: [UInt16: @Sendable ([UInt8]?) -> Void] = [:]
    private var lastOperation: UInt64 = 0
    private var lastHandle: UInt16 = 0x3F
    private var isEnded = false

    var emulator: Emulator { host.emulator }

    /// - Parameters:
    ///   - queue: The serial queue on which all methods are called.
    ///   - bonds: The keys of earlier pairings with the host.
    ///   - receive: Receives the events; called on the queue.
    init(
        _ host: EmulatedHost, on queue: DispatchQueue, bonds: SecurityBonds,
        _ receive: @escaping @Sendable (LinkLayerEvent) -> Void
    ) {
        (self.host, self.queue, self.bonds, self.receive) = (host, queue, bonds, receive)
        central = host.makeExternalCentral()
    }

    func begin() {
        central.role.activate(
            RoleEvents { [weak self, queue] event in queue.async { [weak self] in self?.handle(event) } })
        ExternalHosts.shared.add(self)
        tap = host.emulator.tap([.advertising, .devices, .links, .externalPackets]) { [weak self, queue] event in
            queue.async { [weak self] in self?.handle(event) }
        }
    }

    /// Leaves the world: links end, and the host's devices are gone.
    func end() {
        guard !isEnded else { return }
        reset()
        isEnded = true
        ExternalHosts.shared.remove(self)
        tap?.cancel()
        tap = nil
        central.role.invalidate()
    }

    // MARK: Commands

    func perform(_ command: LinkLayerCommand) {
        switch command {
        case .scan(let settings): scan(settings)
        case .advertise(let set, let settings): advertise(set, settings)
        case .connect(let peers, let settings): connect(to: peers, settings)
        case .cancelConnect: cancelConnect()
        case .disconnect(let handle, _):
            if let link = centralLinks[handle] {
                central.role.submit(.disconnect(peer: link.peer))
            } else if let link = peripheralLink(handle) {
                emulator.control(link: link.number, .close)
            }
        case .send(let handle, let channel, let payload): send(payload, on: channel, of: handle)
        case .updateParameters(let handle, let parameters): update(parameters, on: handle)
        // No device of the world asks its central; the parameters of the host's own devices apply without a question.
        case .answerParametersRequest: break
        case .readSignalStrength(let handle): readSignalStrength(of: handle)
        case .encrypt(let handle, let key, let random, let diversifier):
            encrypt(handle, key: key.reversed(), random: random, diversifier: diversifier)
        case .answerKeyRequest(let handle, let key):
            if let answer = keyRequests.removeValue(forKey: handle) {
                answer(key?.reversed())
            } else if peripheralLink(handle)?.security.answerKeyRequest(key?.reversed()) == false {
                end(handle, for: Code.wrongKey)
            }
        case .reset: reset()
        }
    }

    private func reset() {
        scanTimer?.cancel()
        (air.scan, connect) = (nil, nil)
        central.role.submit(.stopScan)
        for link in centralLinks.values {
            link.security.end()
            central.role.submit(.disconnect(peer: link.peer))
        }
        (centralLinks, operations) = ([:], [:])
        for advertiser in advertisers.values { advertiser.remove() }
        advertisers = [:]
    }

    func emit(_ event: LinkLayerEvent) { receive(event) }

    private func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Returns a handle that no link has, 0x0040...0x0EFF.
    func nextHandle() -> UInt16 {
        repeat {
            lastHandle = lastHandle < 0x0EFF ? lastHandle + 1 : 0x40
        } while centralLinks[lastHandle] != nil || peripheralLink(lastHandle) != nil
        return lastHandle
    }

    /// Whether a device of the world is one of the host's advertising sets. Any thread may call it.
    func owns(device number: UInt32) -> Bool { deviceNumbers.withLock { $0.contains(number) } }

    private func peripheralLink(_ handle: UInt16) -> PeripheralLink? {
        for advertiser in advertisers.values {
            if let link = advertiser.link(handle) { return link }
        }
        return nil
    }

    // MARK: Scanning and connecting

    private struct PendingConnect {
        var peers: [HCIAddress]
        let settings: LinkLayerCommand.ConnectionSettings
        /// The connects in the world, by their operations.
        var operations: [OperationID: PeerID] = [:]
    }

    private func scan(_ settings: LinkLayerCommand.ScanSettings?) {
        scanTimer?.cancel()
        scanTimer = nil
        air.scan = settings
        if let duration = settings?.duration {
            scanTimer = after(duration) { layer in
                guard layer.air.scan != nil else { return }
                layer.scan(nil)
                layer.emit(.scanEnded)
            }
        }
        updateScan()
    }

    /// Calls `body` on the queue after a time of the world.
    func after(_ duration: Duration, _ body: @escaping @Sendable (EmulatedLinkLayer) -> Void) -> any BackendTimer {
        emulator.clock.schedule(after: duration) { [weak self, queue] in
            queue.async { [weak self] in if let self { body(self) } }
        }
    }

    /// Listens while the host scans, or waits for a device that it has not heard.
    private func updateScan() {
        let isWaiting = connect.map { $0.operations.count < $0.peers.count } ?? false
        central.role.submit(
            air.scan != nil || isWaiting ? .startScan(ScanParameters(allowDuplicates: true)) : .stopScan)
    }

    private func connect(to peers: [HCIAddress], _ settings: LinkLayerCommand.ConnectionSettings) {
        var pending = connect ?? PendingConnect(peers: peers, settings: settings)
        pending.peers = peers
        let wanted = peers.compactMap { air.peer($0) }
        for (operation, peer) in pending.operations where !wanted.contains(peer) {
            pending.operations[operation] = nil
            central.role.submit(.disconnect(peer: peer))
        }
        connect = pending
        for address in peers {
            if let peer = air.peer(address) { connect(to: peer) }
        }
        updateScan()
    }

    private func connect(to peer: PeerID) {
        guard connect?.operations.values.contains(peer) == false else { return }
        let operation = nextOperation()
        connect?.operations[operation] = peer
        central.role.submit(.connect(peer: peer, operation: operation, options: ConnectOptions()))
    }

    private func cancelConnect() {
        guard let pending = connect else { return }
        connect = nil
        for peer in pending.operations.values { central.role.submit(.disconnect(peer: peer)) }
        updateScan()
        emit(.connectEnded(status: Code.unknownConnection))
    }

    private func heard(_ packet: TappedAdvertisingPacket) {
        guard let peer = packet.receptions.first(where: { $0.host == host.index })?.peer else { return }
        let address = HCIAddress(packet.address)
        air.note(peer, at: address)
        if connect?.peers.contains(address) == true, packet.isConnectable, !packet.isScanResponse {
            connect(to: peer)
            updateScan()
        }
        if let report = air.report(packet) { emit(.heard(report)) }
    }

    // MARK: Events

    private func handle(_ event: TapEvent) {
        guard !isEnded else { return }
        switch event.kind {
        case .advertising(let packet): heard(packet)
        case .deviceAdded(let device), .deviceChanged(let device): air.devices[device.number] = device
        case .deviceRemoved(let device): air.devices[device] = nil
        case .connectionOpened(let connection):
            for advertiser in advertisers.values where advertiser.number == connection.device {
                advertiser.opened(connection)
            }
        case .connectionClosed(let number, .peripheral, let reason):
            for advertiser in advertisers.values { advertiser.closed(number, reason) }
        case .parametersChanged(let number, let parameters): changed(parameters, on: number)
        case .externalPacket(let number, let side, let channel, let payload):
            carried(payload, on: channel, of: number, from: side)
        default: break
        }
    }

    private func handle(_ event: CentralEvent) {
        guard !isEnded else { return }
        switch event {
        case .stateChanged(let state): if state != .poweredOn { poweredOff() }
        case .connected(let peer, let link, let operation, let parameters):
            connected(peer, link, operation, parameters)
        case .connectFailed(_, let operation, _):
            guard connect?.operations[operation] != nil else { return }
            connect = nil
            updateScan()
            emit(.connectEnded(status: Code.connectionFailed))
        case .disconnected(let link, let reason, _, _, _):
            guard let handle = handle(of: link) else { return }
            centralLinks.removeValue(forKey: handle)?.security.end()
            emit(.disconnected(handle: handle, reason: reason.code))
        case .response(_, let operation, let response):
            if let pending = operations.removeValue(forKey: operation) { completed(pending, response) }
        case .valueNotified(let link, let attribute, let value):
            guard let handle = handle(of: link) else { return }
            perform(centralLinks[handle]?.server.notified(attribute, value), of: handle)
        case .servicesChanged(let link, _, _): servicesChanged(on: link)
        case .writeCredits(let link, let count):
            guard let handle = handle(of: link) else { return }
            centralLinks[handle]?.credits += count
            sendCommands(of: handle)
        default: break
        }
    }

    private func handle(of link: LinkID) -> UInt16? { centralLinks.first { $0.value.link == link }?.key }

    /// Ends everything when the adapter of the host is switched off in the world.
    private func poweredOff() {
        let handles = centralLinks.keys.sorted()
        for link in centralLinks.values { link.security.end() }
        centralLinks = [:]
        for handle in handles { emit(.disconnected(handle: handle, reason: Code.remotePoweredOff)) }
        guard connect != nil else { return }
        connect = nil
        emit(.connectEnded(status: Code.connectionFailed))
    }

    private func connected(
        _ peer: PeerID, _ link: LinkID, _ operation: OperationID, _ parameters: LinkParameters
    ) {
        guard let pending = connect, pending.operations[operation] != nil else {
            // A cancelled connect, or the second of two.
            return central.role.submit(.disconnect(peer: peer))
        }
        connect = nil
        for (other, peer) in pending.operations where other != operation {
            central.role.submit(.disconnect(peer: peer))
        }
        updateScan()
        guard let connection = central.connection(of: link) else {
            return emit(.connectEnded(status: Code.connectionFailed))
        }
        let handle = nextHandle()
        let other = ExternalHosts.shared.others(than: self).first { $0.owns(device: connection.device) }
        let server = ATTServer(table(of: connection.device), maximumMTU: parameters.mtu)
        let security = LinkSecurity(
            LinkSecurity.Ends(
                handle: handle, number: connection.link, side: .peripheral,
                emulated: HCIAddress(connection.peripheral.address), external: pending.settings.address),
            user(of: connection.device), of: self)
        centralLinks[handle] = CentralLink(
            link: link, number: connection.link, device: connection.device, peer: peer, server: server,
            peripheral: other, security: security, credits: parameters.writeCredits)
        emit(
            .connected(
                HCIConnection(
                    handle: handle, isCentral: true, peer: HCIAddress(connection.peripheral.address),
                    privateAddress: nil, localPrivateAddress: nil,
                    parameters: HCIConnectionParameters(connection.parameters))))
        if other == nil { security.begin() }
    }

    /// Returns the user of a described device, or of the host whose managers form the device.
    private func user(of number: UInt32) -> PairingUser {
        guard air.devices[number]?.host == nil, let device = emulator.device(number: number)?.presentDescription else {
            return PairingUser(hostThatAgrees: emulator.configuration.agreesToPairing)
        }
        return PairingUser(device.pairing)
    }

    private func encrypt(_ handle: UInt16, key: [UInt8], random: UInt64, diversifier: UInt16) {
        guard let link = centralLinks[handle] else {
            return emit(.encryptionChanged(handle: handle, status: Code.unknownConnection))
        }
        if let peripheral = link.peripheral {
            return encrypt(handle, with: peripheral, key: key, random: random, diversifier: diversifier)
        }
        let security = link.security
        if !security.encrypt(key: key, random: random, diversifier: diversifier) { end(handle, for: Code.wrongKey) }
    }

    /// Encrypts a link to another host outside of the emulator, if that one has the same key.
    private func encrypt(
        _ handle: UInt16, with peripheral: EmulatedLinkLayer, key: [UInt8], random: UInt64, diversifier: UInt16
    ) {
        guard let number = centralLinks[handle]?.number else { return }
        peripheral.queue.async { [self] in
            peripheral.requestKey(of: number, random: random, diversifier: diversifier) { [self] answer in
                queue.async { self.keyAnswered(answer, key, on: handle, number, peripheral) }
            }
        }
    }

    private func keyAnswered(
        _ answer: [UInt8]?, _ key: [UInt8], on handle: UInt16, _ number: UInt32, _ peripheral: EmulatedLinkLayer
    ) {
        guard centralLinks[handle]?.number == number else { return }
        guard let answer else { return emit(.encryptionChanged(handle: handle, status: Code.keyMissing)) }
        let isEqual = answer == key
        peripheral.queue.async { peripheral.encrypted(number, isEqual: isEqual) }
        guard isEqual else { return end(handle, for: Code.wrongKey) }
        emulator.control(link: number, .setSecurity(.encrypted))
        emit(.encryptionChanged(handle: handle, status: 0))
    }

    /// Asks the host, as the peripheral, for the key of a link.
    private func requestKey(
        of number: UInt32, random: UInt64, diversifier: UInt16, _ answer: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        guard let link = advertisers.values.lazy.compactMap({ $0.link(number: number) }).first else {
            return answer(nil)
        }
        keyRequests[link.handle] = answer
        emit(.keyRequested(handle: link.handle, random: random, diversifier: diversifier))
    }

    /// Reports to the host, as the peripheral, that the central has its key, or another one.
    private func encrypted(_ number: UInt32, isEqual: Bool) {
        guard let link = advertisers.values.lazy.compactMap({ $0.link(number: number) }).first else { return }
        if isEqual {
            emit(.encryptionChanged(handle: link.handle, status: 0))
        } else {
            end(link.handle, for: Code.wrongKey)
        }
    }

    /// Ends a link whose ends have different keys: the first encrypted packet is not authentic.
    private func end(_ handle: UInt16, for reason: UInt8) {
        if let link = centralLinks.removeValue(forKey: handle) {
            link.security.end()
            central.role.submit(.disconnect(peer: link.peer))
        } else if let link = peripheralLink(handle) {
            advertisers.values.forEach { $0.forget(link) }
            emulator.control(link: link.number, .close)
        }
        emit(.disconnected(handle: handle, reason: reason))
    }

    private func table(of device: UInt32) -> AttributeTable {
        guard let device = emulator.device(number: device), let services = device.attributes?.services else {
            return AttributeTable()
        }
        return AttributeTable(services, device.attributesByHandle)
    }

    private func servicesChanged(on link: LinkID) {
        guard let handle = handle(of: link), let device = centralLinks[handle]?.device else { return }
        perform(centralLinks[handle]?.server.servicesChanged(to: table(of: device)), of: handle)
    }

    // MARK: Packets

    private enum PendingOperation {
        case att(UInt16)
        case signalStrength(UInt16)
    }

    private func send(_ payload: [UInt8], on channel: UInt16, of handle: UInt16) {
        if let link = peripheralLink(handle) {
            guard !link.isBetweenExternalHosts else {
                return emulator.control(link: link.number, .send(.peripheral, channel: channel, payload))
            }
            link.receive(payload, on: channel)
            return emit(.sent(handle: handle))
        }
        guard let link = centralLinks[handle] else { return }
        guard link.peripheral == nil else {
            return emulator.control(link: link.number, .send(.central, channel: channel, payload))
        }
        switch channel {
        case L2CAPChannel.att:
            perform(centralLinks[handle]?.server.receive(payload), of: handle)
            // A write command without a credit holds up the packets behind it.
            guard centralLinks[handle]?.commands.isEmpty == true else {
                centralLinks[handle]?.unsent += 1
                return
            }
        case L2CAPChannel.securityManager: centralLinks[handle]?.security.receive(payload)
        case L2CAPChannel.signaling:
            if let reply = SignalingReply(payload, isCentral: true) {
                emit(.received(handle: handle, channel: L2CAPChannel.signaling, reply.bytes))
            }
        default: break
        }
        emit(.sent(handle: handle))
    }

    /// Handles a packet that the world carried between two hosts outside of the emulator.
    private func carried(_ payload: [UInt8], on channel: UInt16, of number: UInt32, from side: LinkSide) {
        if let (handle, _) = centralLinks.first(where: { $0.value.number == number }) {
            emit(side == .central ? .sent(handle: handle) : .received(handle: handle, channel: channel, payload))
        } else if let link = advertisers.values.lazy.compactMap({ $0.link(number: number) }).first {
            emit(
                side == .peripheral
                    ? .sent(handle: link.handle) : .received(handle: link.handle, channel: channel, payload))
        }
    }

    private func perform(_ actions: [ATTServer.Action]?, of handle: UInt16) {
        for action in actions ?? [] {
            guard let link = centralLinks[handle] else { return }
            switch action {
            case .send(let pdu): emit(.received(handle: handle, channel: L2CAPChannel.att, pdu.bytes))
            case .exchange: central.exchange(on: link.link, begin(.att(handle)))
            case .request(let request):
                central.role.submit(.request(link: link.link, operation: begin(.att(handle)), request))
            case .writeCommand(let attribute, let value):
                centralLinks[handle]?.commands.append((attribute, value))
                sendCommands(of: handle)
            }
        }
    }

    /// Sends the write commands for which the link has credits.
    private func sendCommands(of handle: UInt16) {
        while let link = centralLinks[handle], link.credits > 0, let command = link.commands.first {
            centralLinks[handle]?.commands.removeFirst()
            centralLinks[handle]?.credits -= 1
            central.role.submit(
                .writeCommand(link: link.link, attribute: command.attribute, value: command.value))
        }
        guard let link = centralLinks[handle], link.commands.isEmpty, link.unsent > 0 else { return }
        centralLinks[handle]?.unsent = 0
        for _ in 0..<link.unsent { emit(.sent(handle: handle)) }
    }

    private func begin(_ operation: PendingOperation) -> OperationID {
        let id = nextOperation()
        operations[id] = operation
        return id
    }

    private func completed(_ pending: PendingOperation, _ response: LinkResponse) {
        switch pending {
        case .att(let handle): perform(centralLinks[handle]?.server.completed(response), of: handle)
        case .signalStrength(let handle):
            guard centralLinks[handle] != nil else { return }
            let strength = if case .rssi(let rssi) = response { Int8(clamping: rssi) } else { Int8(127) }
            emit(.signalStrength(handle: handle, strength))
        }
    }

    private func readSignalStrength(of handle: UInt16) {
        guard let link = centralLinks[handle] else { return emit(.signalStrength(handle: handle, 127)) }
        central.role.submit(.request(link: link.link, operation: begin(.signalStrength(handle)), .readRSSI))
    }

    // MARK: Parameters

    private func update(_ parameters: HCIConnectionParameters, on handle: UInt16) {
        guard let number = centralLinks[handle]?.number ?? peripheralLink(handle)?.number else { return }
        emulator.control(link: number, .setParameters(ConnectionParameters(parameters)))
    }

    private func changed(_ parameters: ConnectionParameters, on number: UInt32) {
        let handle =
            centralLinks.first { $0.value.number == number }?.key
            ?? advertisers.values.lazy.compactMap { $0.link(number: number)?.handle }.first
        guard let handle else { return }
        emit(.parametersChanged(handle: handle, status: 0, HCIConnectionParameters(parameters)))
    }

    // MARK: Advertising

    private func advertise(_ set: UInt8, _ settings: LinkLayerCommand.AdvertisingSettings?) {
        guard let settings else {
            advertisers[set]?.stopAdvertising()
            return
        }
        if let advertiser = advertisers[set], advertiser.advertise(settings) { return }
        advertisers[set]?.remove()
        advertisers[set] = ExternalDevice(
            self, set, settings, named: "\(host.name)\(set == 0 ? "" : " \(set)")")
    }
}

/// A link of the host as the central.
private struct CentralLink {
    let link: LinkID
    /// The number by which taps report the link.
    let number: UInt32
    let device: UInt32
    let peer: PeerID
    var server: ATTServer
    /// The other end, if it is a host outside of the emulator, too: the world carries the packets.
    let peripheral: EmulatedLinkLayer?
    let security: LinkSecurity
    var credits: Int
    /// The write commands that wait for a credit, fewer than a controller has buffers.
    var commands: [(attribute: AttributeID, value: Data)] = []
    /// The number of packets whose transmission is not reported because of them.
    var unsent = 0
}

/// The fixed channels of LE (Core Specification, Vol 3, Part A, 2.1).
enum L2CAPChannel {
    static let att: UInt16 = 0x0004
    static let signaling: UInt16 = 0x0005
    static let securityManager: UInt16 = 0x0006
}

/// A sink that passes events to a closure; the world delivers them under its lock.
private final class RoleEvents: EventSink {
    let label = "EmulatedHCI"
    private let pass: @Sendable (CentralEvent) -> Void

    init(_ pass: @escaping @Sendable (CentralEvent) -> Void) { self.pass = pass }

    func deliver(_ event: CentralEvent) { pass(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

extension DisconnectReason {
    /// The error code with which a controller reports the end of a link.
    var code: UInt8 {
        switch self {
        case .local: EmulatedLinkLayer.Code.localHostTerminated
        case .remote, .unknown: EmulatedLinkLayer.Code.remoteUserTerminated
        case .timeout: EmulatedLinkLayer.Code.timeout
        case .authentication: EmulatedLinkLayer.Code.authenticationFailure
        }
    }
}

extension HCIAddress {
    init(_ address: DeviceAddress) { self.init(bits: address.bits, isRandom: address.isRandom) }
}

extension HCIConnectionParameters {
    init(_ parameters: ConnectionParameters) {
        self.init(
            interval: parameters.interval, latency: parameters.peripheralLatency,
            supervisionTimeout: parameters.supervisionTimeout)
    }
}

extension ConnectionParameters {
    init(_ parameters: HCIConnectionParameters) {
        self.init(
            interval: parameters.interval, peripheralLatency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
    }
}
