import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization

/// A central across the emulated air, on a host of its own.
///
/// It speaks the common manager protocol, below the classes under test.
final class PeerCentral: Sendable {
    /// Takes events in; the world delivers them under its lock.
    private final class Sink<Event: Sendable>: EventSink {
        let label = "contract central"
        private let take: @Sendable (Event) -> Void

        init(_ take: @escaping @Sendable (Event) -> Void) { self.take = take }

        func deliver(_ event: Event) { take(event) }
        func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
    }

    /// What it knows, shared with its sinks.
    private final class Memory: Sendable {
        private let state = Lock(PeerCentralState())

        func withLock<Result: Sendable>(_ body: (inout PeerCentralState) -> Result) -> Result {
            state.withLock { body(&$0) }
        }
    }

    private let emulator: Emulator
    private let host: EmulatedHost
    private let backend: any CentralBackend
    private let pairing: any PairingBackend
    private let state: Memory

    var lines: [String] { state.withLock { $0.lines } }

    init(_ central: ContractCentral, in emulator: Emulator) throws {
        self.emulator = emulator
        host = try emulator.add(HostDescription(name: "central \(central.rawValue)"))
        backend = emulator.makeCentral(CentralOptions(adapter: host.name))
        pairing = host.makePairing()
        let state = Memory()
        self.state = state
        backend.activate(Sink<CentralEvent> { event in state.withLock { $0.handle(event) } })
    }

    /// Obeys; what lets time pass is done when it returns.
    func perform(_ action: CentralAction) async throws -> PeerReply {
        var reply = PeerReply()
        switch action {
        case .listen(let milliseconds): reply.lines = try await listen(milliseconds)
        case .connect(let service): try await connect(service)
        case .disconnect: if let peer = state.withLock({ $0.peer }) { backend.submit(.disconnect(peer: peer)) }
        case .discover:
            try await discover()
            state.withLock { state in
                let own = state.services.map(\.uuid.short).filter { $0.hasPrefix("C0DE") }
                state.tell("services " + own.joined(separator: " "))
            }
        case .descriptors(let uuid): try await readDescriptors(of: uuid)
        case .mtu: reply.count = state.withLock { $0.mtu }
        case .pairing(let capability):
            let state = state
            pairing.activate(Sink<PairingEvent> { event in state.withLock { $0.handle(event) } })
            pairing.submit(.setCapability(PairingCapability(capability)))
        case .answer(let answer):
            guard let request = state.withLock({ $0.lastRequest }) else { throw ContractTimeout() }
            pairing.submit(.answer(request: request, answer: PairingAnswer(answer)))
        case .pair:
            guard let peer = state.withLock({ $0.peer }) else { throw ContractTimeout() }
            pairing.submit(.pair(peer: peer, operation: OperationID(rawValue: 1)))
        case .forget:
            let peer = state.withLock { $0.peer }
            let devices = emulator.hosts.compactMap(\.peripheral)
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
        let state = state
        try await emulator.advance(until: { state.withLock { $0.isOn } })
    }

    private func listen(_ milliseconds: Int) async throws -> [String] {
        try await powerOn()
        state.withLock { $0.heard = [:] }
        backend.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await emulator.advance(by: .milliseconds(milliseconds))
        backend.submit(.stopScan)
        return state.withLock { $0.heard.values.map(\.line) }.sorted()
    }

    private func connect(_ service: String?) async throws {
        try await powerOn()
        let wanted = service.map { ContractDevices.uuid($0) }
        let state = state
        state.withLock { $0.heard = [:] }
        backend.submit(.startScan(ScanParameters(services: wanted.map { [$0] }, allowDuplicates: true)))
        try await emulator.advance(until: { state.withLock { !$0.heard.isEmpty } })
        backend.submit(.stopScan)
        guard let peer = state.withLock({ $0.heard.keys.first }) else { throw ContractTimeout() }
        backend.submit(state.withLock { $0.connect(peer) })
        try await emulator.advance(until: { state.withLock { $0.link != nil } })
        try await discover()
        state.withLock { $0.tell("connected") }
    }

    private func discover() async throws {
        let state = state
        if let command = state.withLock({ $0.discoverServices() }) { backend.submit(command) }
        try await emulator.advance(until: { state.withLock { !$0.isDiscovering } })
        for command in state.withLock({ $0.discoverCharacteristics() }) { backend.submit(command) }
        try await emulator.advance(until: { state.withLock { !$0.isDiscovering } })
    }

    private func readDescriptors(of uuid: String) async throws {
        let state = state
        guard let command = state.withLock({ $0.discoverDescriptors(of: uuid) }) else { throw ContractTimeout() }
        backend.submit(command)
        try await emulator.advance(until: { state.withLock { !$0.isDiscovering } })
        for command in state.withLock({ $0.readDescriptors() }) { backend.submit(command) }
        try await emulator.advance(until: { state.withLock { !$0.isDiscovering } })
        state.withLock { $0.tellDescriptors(of: uuid) }
    }

    // MARK: Channels

    private func useChannel(_ action: CentralAction) async throws {
        switch action {
        case .send(let count): state.withLock { $0.channel.send(count) }
        case .receive(let count):
            let state = state
            try await emulator.advance(until: { [self] in
                pump()
                return state.withLock { $0.channel.received >= count || !$0.channel.isIntact }
            })
            guard state.withLock({ $0.channel.isIntact }) else { throw ContractTimeout() }
        default:
            if let id = state.withLock({ $0.channel.id }) { backend.submit(.channel(id, .close)) }
        }
    }

    /// Sends what waits for credits, and gives credits for what came.
    func pump() {
        for command in state.withLock({ $0.channel.commands() }) { backend.submit(command) }
    }
}

extension Advertisement {
    /// "name=Served services=180D C0DE1000", services sorted, fields that are not there left out.
    fileprivate var line: String {
        var fields: [String] = []
        if let localName { fields.append("name=\(localName)") }
        if let serviceUUIDs { fields.append("services=" + serviceUUIDs.map(\.short).sorted().joined(separator: " ")) }
        if let overflowServiceUUIDs {
            fields.append("overflow=" + overflowServiceUUIDs.map(\.short).joined(separator: " "))
        }
        if let manufacturerData { fields.append("manufacturer=\(manufacturerData.hex)") }
        if serviceData != nil { fields.append("serviceData") }
        if let txPowerLevel { fields.append("txPower=\(txPowerLevel)") }
        if isConnectable == true { fields.append("connectable") }
        return fields.joined(separator: " ")
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

extension PairingAnswer {
    fileprivate init(_ answer: PeerAnswer) {
        switch answer {
        case .accept: self = .accept
        case .reject: self = .reject
        case .passkey(let number): self = .passkey(number)
        }
    }
}
