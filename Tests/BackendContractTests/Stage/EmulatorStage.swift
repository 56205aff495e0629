import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The emulated radio in virtual time: a world of its own for each scenario.
struct EmulatorStage: ContractStage {
    let name = "emulator"
    let hasPeer = true
    let emulator: Emulator
    private let selection: CBBackendSelection
    private let handler = ContractHandler()
    private let contract: EmulatedDevice
    private let second: EmulatedDevice

    /// - Parameter wrap: What stands between the managers and the emulator.
    init(
        configuration: EmulatorConfiguration = .default, seed: UInt64,
        wrappedIn wrap: ((Emulator) throws -> any BluetoothBackend)? = nil
    ) throws {
        emulator = Emulator(configuration: configuration, time: .virtual, seed: seed)
        selection = if let wrap { .custom(try wrap(emulator)) } else { .emulator(emulator) }
        contract = try emulator.add(ContractDevices.contract(handler: handler))
        second = try emulator.add(ContractDevices.second())
    }

    /// What happened, for a failing scenario.
    var worldTrace: [String] { emulator.trace }

    func begin() async throws {}

    func makeManager(delegate: any CBCentralManagerDelegate, queue: DispatchQueue) -> CBCentralManager {
        CBCentralManager(backend: selection, delegate: delegate, queue: queue)
    }

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        do {
            try await emulator.advance(until: condition, within: .seconds(120))
        } catch EmulatorError.conditionNotMet {
            throw ContractTimeout()
        }
    }

    @discardableResult
    func perform(_ verb: PeerVerb) async throws -> PeerReply {
        var reply = PeerReply()
        switch verb {
        case .reset: break
        case .advertise(.contract, let isOn, let name, _):
            if let name { try contract.setAdvertising(ContractDevices.advertising(name: name)) }
            contract.setAdvertising(isOn)
        case .advertise(.second, let isOn, let name, let manufacturerData):
            if name != nil || manufacturerData != nil {
                try second.setAdvertising(
                    ContractDevices.secondAdvertising(name: name ?? "Second", manufacturerData))
            }
            second.setAdvertising(isOn)
        case .disconnect: contract.disconnect()
        case .lose(let stays): contract.reset(staysOnAir: stays)
        case .notify(let uuid, let value):
            contract.notify(CharacteristicPath(ContractDevices.uuid(uuid)), value: value)
        case .setValue(let uuid, let value):
            contract.setValue(value, of: CharacteristicPath(ContractDevices.uuid(uuid)))
        case .value(let uuid): reply.value = contract.value(of: CharacteristicPath(ContractDevices.uuid(uuid)))
        case .commands: reply.values = handler.commands
        case .hold(let isOn): contract.holdReads(of: CharacteristicPath(ContractDevices.uuid("C0DE0101")), isOn)
        case .addService: try contract.addService(ContractDevices.extra)
        case .removeService: contract.removeService(ContractDevices.uuid("C0DE0009"))
        case .requestMTU(let mtu): contract.exchangeMTU(mtu)
        case .connections: reply.count = contract.connectionCount
        case .adapter(let isPowered): emulator.host.setPower(isPowered)
        case .daemon(let isRunning): if !isRunning { emulator.host.reset(for: .seconds(1)) }
        }
        try await emulator.advance(by: .milliseconds(1))
        return reply
    }
}
