import BluetoothEmulator
import BluetoothSupport
import Synchronization

/// The centrals of an emulated fixture, each created when it is first used.
final class PeerCentrals: Sendable {
    private let emulator: Emulator
    private let time: any WorldTime
    private let manner: CentralManner
    private let created = Lock<[ContractCentral: PeerCentral]>([:])

    init(_ emulator: Emulator, _ time: any WorldTime, _ manner: CentralManner) {
        self.emulator = emulator
        self.time = time
        self.manner = manner
    }

    func known(_ central: ContractCentral) -> PeerCentral? { created.withLock { $0[central] } }

    func central(_ central: ContractCentral) throws -> PeerCentral {
        if let known = known(central) { return known }
        let new = try PeerCentral(central, in: emulator, time, manner)
        created.withLock { $0[central] = new }
        return new
    }

    /// Transfers the bytes that their channels allow.
    func pump() {
        for central in created.withLock({ Array($0.values) }) { central.pump() }
    }

    /// Whether a host belongs to one of the centrals.
    func areOn(_ host: EmulatedHost) -> Bool {
        ContractCentral.allCases.contains { "central \($0.rawValue)" == host.name }
    }
}
