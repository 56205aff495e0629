import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth

/// The contract's peers in an emulated world, and their actions.
///
/// The fixture controls the time of the world, except in actions that wait.
struct ContractWorld: Sendable {
    let emulator: Emulator
    let centrals: PeerCentrals
    private let time: any WorldTime
    private let handler = ContractHandler()
    private let contract: EmulatedDevice
    private let second: EmulatedDevice
    private let heart: EmulatedDevice

    init(_ emulator: Emulator, _ time: any WorldTime, _ manner: CentralManner) throws {
        self.emulator = emulator
        self.time = time
        contract = try emulator.add(ContractDevices.contract(handler: handler))
        second = try emulator.add(ContractDevices.second())
        heart = try emulator.add(ContractDevices.heart())
        centrals = PeerCentrals(emulator, time, manner)
    }

    /// The hosts of the managers under test.
    private var hosts: [EmulatedHost] { emulator.hosts.filter { !centrals.areOn($0) } }

    /// The address of the peer "contract".
    static let contractAddress = "F0:F1:F2:F3:F4:F5"

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
        case .awaitHeldRead: try await waitForUnansweredRequest()
        case .addService: try contract.addService(ContractDevices.extra)
        case .removeService: contract.removeService(ContractDevices.uuid(.extra))
        case .requestMTU(let mtu): contract.exchangeMTU(mtu)
        case .connections: reply.count = contract.connectionCount
        case .adapter(let isPowered): for host in hosts { host.setPower(isPowered) }
        case .daemon(let isRunning): for host in isRunning ? [] : hosts { host.reset(for: .seconds(1)) }
        case .secure(let pairing):
            try contract.setPairing(PairingDescription(pairing))
            try contract.addService(ContractDevices.secure)
        case .enterPasskey(let passkey): contract.enterPasskey(passkey)
        case .forget: contract.removeBond()
        case .endApp(let identifier): for host in hosts { host.terminateApp(restoreIdentifier: identifier) }
        case .otherApp(true): emulator.host.connectOtherApp(to: contract)
        case .otherApp(false): emulator.host.disconnectOtherApp(from: contract)
        }
        return reply
    }

    /// Waits step by step, because in virtual time a condition is checked only when an app has received an event.
    private func waitForUnansweredRequest() async throws {
        for _ in 1...2_000 where !contract.hasUnansweredRequest { try await time.advance(by: .milliseconds(10)) }
        guard contract.hasUnansweredRequest else { throw ContractTimeout() }
    }
}

extension PairingDescription {
    fileprivate init(_ pairing: PeerPairing) {
        // The number that a user enters is known when it is displayed.
        self.init(
            capability: PairingCapability(pairing.capability),
            passkey: pairing.capability == .keyboardOnly ? nil : pairing.passkey,
            answer: pairing.accepts ? .accept : .reject)
    }
}
