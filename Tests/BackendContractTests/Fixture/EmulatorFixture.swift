import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The emulator in virtual time: a world of its own for each scenario.
struct EmulatorFixture: ContractFixture {
    let name = "emulator"
    static let features = Set(ContractFeature.allCases)
    let emulator: Emulator
    let backend: CBBackendSelection
    private let handler = ContractHandler()
    private let contract: EmulatedDevice
    private let second: EmulatedDevice
    private let heart: EmulatedDevice
    private let centrals: PeerCentrals

    /// - Parameter wrap: What stands between the managers and the emulator.
    init(
        configuration: EmulatorConfiguration = .default, seed: UInt64,
        wrappedIn wrap: ((Emulator) throws -> any BluetoothBackend)? = nil
    ) throws {
        emulator = Emulator(configuration: configuration, time: .virtual, seed: seed)
        backend = if let wrap { .custom(try wrap(emulator)) } else { .emulator(emulator) }
        contract = try emulator.add(ContractDevices.contract(handler: handler))
        second = try emulator.add(ContractDevices.second())
        heart = try emulator.add(ContractDevices.heart())
        centrals = PeerCentrals(emulator)
    }

    /// What happened, for a failing scenario.
    var worldTrace: [String] { emulator.trace }

    func begin() async throws {}

    // MARK: Time

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        try await advance(until: condition)
    }

    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String] {
        guard count > 0 else { return centrals.known(central)?.lines ?? [] }
        let central = try centrals.central(central)
        try await advance(until: { central.lines.count >= count })
        return central.lines
    }

    private func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        do {
            try await emulator.advance(
                until: { [centrals] in
                    centrals.pump()
                    return condition()
                }, within: .seconds(120))
        } catch EmulatorError.conditionNotMet {
            throw ContractTimeout()
        }
    }

    // MARK: Actions

    /// The hosts of the managers under test.
    private var hosts: [EmulatedHost] { emulator.hosts.filter { !centrals.areOn($0) } }

    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply {
        let reply = try await centrals.central(central).perform(action)
        try await emulator.advance(by: .milliseconds(1))
        return reply
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        var reply = PeerReply()
        switch action {
        case .reset, .settle: break
        case .advertise(.contract, let isOn, let name, _):
            if let name { try contract.setAdvertising(ContractDevices.advertising(name: name)) }
            contract.setAdvertising(isOn)
        case .advertise(.second, let isOn, let name, let manufacturerData):
            if name != nil || manufacturerData != nil {
                try second.setAdvertising(
                    ContractDevices.secondAdvertising(name: name ?? "Second", manufacturerData))
            }
            second.setAdvertising(isOn)
        case .advertise(.heart, let isOn, _, _): heart.setAdvertising(isOn)
        case .disconnect: contract.disconnect()
        case .lose(let stays): contract.reset(staysOnAir: stays)
        case .notify(let attribute, let value):
            contract.notify(ContractDevices.path(attribute), value: value)
        case .setValue(let attribute, let value):
            contract.setValue(value, of: ContractDevices.path(attribute))
        case .value(let attribute): reply.value = contract.value(of: ContractDevices.path(attribute))
        case .commands: reply.values = handler.commands
        case .hold(let isOn): contract.holdReads(of: ContractDevices.path(.stored), isOn)
        case .addService: try contract.addService(ContractDevices.extra)
        case .removeService: contract.removeService(ContractDevices.uuid(.extra))
        case .requestMTU(let mtu): contract.exchangeMTU(mtu)
        case .connections: reply.count = contract.connectionCount
        case .adapter(let isPowered): for host in hosts { host.setPower(isPowered) }
        case .daemon(let isRunning): for host in isRunning ? [] : hosts { host.reset(for: .seconds(1)) }
        case .secure(let pairing):
            try contract.setPairing(PairingDescription(pairing))
            try contract.addService(ContractDevices.secure)
        case .forget: contract.removeBond()
        case .endApp(let identifier): for host in hosts { host.terminateApp(restoreIdentifier: identifier) }
        case .otherApp(true): emulator.host.connectOtherApp(to: contract)
        case .otherApp(false): emulator.host.disconnectOtherApp(from: contract)
        }
        try await emulator.advance(by: .milliseconds(1))
        return reply
    }
}

extension PairingDescription {
    fileprivate init(_ pairing: PeerPairing) {
        self.init(
            capability: PairingCapability(pairing.capability), passkey: pairing.passkey,
            answer: pairing.accepts ? .accept : .reject)
    }
}
