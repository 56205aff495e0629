import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization

/// The view of a central across the air.
enum CentralManner: Sendable {
    /// The view that the system gives an app: one advertiser for each device, and each change of services.
    case app
    /// The view of a stack, such as the contract's peer of a real `bluetoothd`: each advertising set, and the services
    /// some time after a change.
    case stack
}

/// A central across the emulated air, on a separate host.
///
/// It uses the backend protocol, below the classes under test.
final class PeerCentral: Sendable {
    /// Receives events; the world delivers them under its lock.
    private final class Sink<Event: Sendable>: EventSink {
        let label = "contract central"
        private let handle: @Sendable (Event) -> Void

        init(_ handle: @escaping @Sendable (Event) -> Void) { self.handle = handle }

        func deliver(_ event: Event) { handle(event) }
        func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
    }

    private let emulator: Emulator
    private let time: any WorldTime
    private let manner: CentralManner
    private let host: EmulatedHost
    private let backend: any CentralBackend
    private let pairing: any PairingBackend
    private let state: Lock<PeerCentralState>

    var lines: [String] {
        state.withLock { state in
            state.reportServiceChanges(before: .now - Self.rediscovery)
            return state.events.map(\.description)
        }
    }

    /// The time that a stack needs to discover the services again, or to start a scan.
    private static let rediscovery = Duration.milliseconds(200)

    init(_ central: ContractCentral, in emulator: Emulator, _ time: any WorldTime, _ manner: CentralManner) throws {
        self.emulator = emulator
        self.time = time
        self.manner = manner
        state = Lock(PeerCentralState(collectsServiceChanges: manner == .stack))
        host = try emulator.add(HostDescription(name: "central \(central.rawValue)"))
        backend = emulator.makeCentral(RoleOptions(adapter: host.name))
        pairing = host.makePairing()
        backend.activate(Sink<CentralEvent> { [weak self] event in self?.state.withLock { $0.handle(event) } })
    }

    /// Performs an action; actions that take time are complete when it returns.
    func perform(_ action: CentralAction) async throws -> PeerReply {
        var reply = PeerReply()
        switch action {
        case .listen(let milliseconds): reply.lines = try await listen(milliseconds)
        case .connect(let service): try await connect(service)
        case .disconnect: if let peer = state.withLock({ $0.peer }) { backend.submit(.disconnect(peer: peer)) }
        case .discover:
            try await discover()
            state.withLock { state in
                state.report(.services(state.services.map { ContractAttribute($0.uuid) }.filter(\.isOwn)))
            }
        case .descriptors(let attribute): try await readDescriptors(of: attribute)
        case .mtu: reply.count = state.withLock { $0.mtu }
        case .pairing(let capability):
            pairing.activate(Sink<PairingEvent> { [weak self] event in self?.state.withLock { $0.handle(event) } })
            pairing.submit(.setCapability(PairingCapability(capability)))
        case .answer(let answer):
            guard let request = state.withLock({ $0.lastRequest }) else { throw ContractTimeout() }
            pairing.submit(.answer(request: request, answer: PairingAnswer(answer)))
        case .pair:
            guard let peer = state.withLock({ $0.peer }) else { throw ContractTimeout() }
            pairing.submit(.pair(peer: peer, operation: OperationID(rawValue: 1)))
        case .forget:
            let peer = state.withLock { $0.peer }
            // The device of a host outside of the emulator is no peripheral of its host.
            let devices = emulator.devices + emulator.hosts.compactMap(\.peripheral)
            for device in devices where device.identifier(onHost: host.name) == peer { host.removeBond(with: device) }
        case .send, .receive, .closeChannel: try await useChannel(action)
        case .read, .write, .command, .subscribe, .openChannel:
            guard let command = state.withLock({ $0.command(for: action) }) else { throw ContractTimeout() }
            backend.submit(command)
        }
        return reply
    }

    // MARK: The air

    private func powerOn() async throws {
        try await time.advance(until: { [self] in state.withLock { $0.isOn } })
    }

    private func listen(_ milliseconds: Int) async throws -> [String] {
        try await powerOn()
        state.withLock { $0.heard = [:] }
        guard manner == .stack else {
            backend.submit(.startScan(ScanParameters(allowDuplicates: true)))
            try await time.advance(by: .milliseconds(milliseconds))
            backend.submit(.stopScan)
            return state.withLock { $0.heard.values.map { HeardAdvertiser($0).description } }.sorted()
        }
        // Events before the manager's last call took effect are not reported.
        try await time.advance(by: Self.rediscovery)
        let sets = Lock<[AdvertisingSet: Advertisement]>([:])
        let tap = emulator.tap(.advertising) { [index = host.index] event in
            guard case .advertising(let packet) = event.kind, packet.receptions.contains(where: { $0.host == index })
            else { return }
            let set = AdvertisingSet(device: packet.device, number: packet.set)
            sets.withLock { _ = $0[set, default: Advertisement()].merge(packet.advertisement) }
        }
        backend.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await time.advance(by: .milliseconds(milliseconds))
        backend.submit(.stopScan)
        tap.cancel()
        return sets.withLock { $0.values.map { HeardAdvertiser($0).description } }.sorted()
    }

    private func connect(_ service: ContractAttribute?) async throws {
        try await powerOn()
        let wanted = service.map { ContractDevices.uuid($0) }
        state.withLock { $0.heard = [:] }
        backend.submit(.startScan(ScanParameters(services: wanted.map { [$0] }, allowDuplicates: true)))
        try await time.advance(until: { [self] in state.withLock { !$0.heard.isEmpty } })
        backend.submit(.stopScan)
        guard let peer = state.withLock({ $0.heard.keys.first }) else { throw ContractTimeout() }
        backend.submit(state.withLock { $0.connect(peer) })
        try await time.advance(until: { [self] in state.withLock { $0.link != nil } })
        try await discover()
        state.withLock { $0.report(.connected) }
    }

    private func discover() async throws {
        if let command = state.withLock({ $0.discoverServices() }) { backend.submit(command) }
        try await time.advance(until: { [self] in state.withLock { !$0.isDiscovering } })
        for command in state.withLock({ $0.discoverCharacteristics() }) { backend.submit(command) }
        try await time.advance(until: { [self] in state.withLock { !$0.isDiscovering } })
    }

    private func readDescriptors(of attribute: ContractAttribute) async throws {
        guard let command = state.withLock({ $0.discoverDescriptors(of: attribute) }) else { throw ContractTimeout() }
        backend.submit(command)
        try await time.advance(until: { [self] in state.withLock { !$0.isDiscovering } })
        for command in state.withLock({ $0.readDescriptors() }) { backend.submit(command) }
        try await time.advance(until: { [self] in state.withLock { !$0.isDiscovering } })
        state.withLock { $0.reportDescriptors(of: attribute) }
    }

    // MARK: Channels

    private func useChannel(_ action: CentralAction) async throws {
        switch action {
        case .send(let count): state.withLock { $0.channel.send(count) }
        case .receive(let count):
            try await time.advance(until: { [self] in
                pump()
                return state.withLock { $0.channel.received >= count || !$0.channel.isIntact }
            })
            guard state.withLock({ $0.channel.isIntact }) else { throw ContractTimeout() }
        default:
            if let id = state.withLock({ $0.channel.id }) { backend.submit(.channel(id, .close)) }
        }
    }

    /// Sends as many bytes as there are credits, and grants credits for received bytes.
    func pump() {
        for command in state.withLock({ $0.channel.commands() }) { backend.submit(command) }
    }
}

extension HeardAdvertiser {
    fileprivate init(_ advertisement: Advertisement) {
        name = advertisement.localName
        services = (advertisement.serviceUUIDs ?? []).map { ContractAttribute($0) }
        overflow = (advertisement.overflowServiceUUIDs ?? []).map { ContractAttribute($0) }
        if let data = advertisement.manufacturerData { others.append("manufacturer=\(data.hex)") }
        if advertisement.serviceData != nil { others.append("serviceData") }
        if let level = advertisement.txPowerLevel { others.append("txPower=\(level)") }
        isConnectable = advertisement.isConnectable == true
    }
}

extension PairingCapability {
    init(_ capability: PeerCapability) {
        switch capability {
        case .displayOnly: self = .displayOnly
        case .displayYesNo: self = .displayYesNo
        case .keyboardOnly: self = .keyboardOnly
        case .noInputNoOutput: self = .noInputNoOutput
        case .keyboardDisplay: self = .keyboardDisplay
        }
    }
}

/// One advertising set on the air.
private struct AdvertisingSet: Hashable {
    let device: UInt32
    let number: Int
}

extension TappedAdvertisingPacket {
    /// The content as a scan reports it.
    fileprivate var advertisement: Advertisement {
        Advertisement(
            localName: data.localName, txPowerLevel: data.txPowerLevel,
            serviceUUIDs: data.services.isEmpty ? nil : data.services,
            serviceData: data.serviceData.isEmpty ? nil : data.serviceData, manufacturerData: data.manufacturerData,
            isConnectable: isScanResponse ? nil : isConnectable)
    }
}

extension PairingAnswer {
    fileprivate init(_ answer: PeerAnswer) {
        switch answer {
        case .accept: self = .accept
        case .reject: self = .reject
        case .passkey(let number): self = .passkey(number)
        }
    }
}
