import BluetoothEmulator
import CoreBluetooth
import Foundation

/// One world of emulated managers: the emulator, its settings, and the bus's data about managers.
///
/// Each manager has a separate host in the emulator, so that two centrals of one process are two phones.
// Invariant: `state` is accessed under its lock; `emulator` is set once.
final class EmulatedWorld: @unchecked Sendable {
    struct State {
        var configuration = EmulatorConfiguration.default
        var centrals: [Registered<EmulatedCBCentralManager>] = []
        var peripherals: [Registered<EmulatedCBPeripheralManager>] = []
        var channels: [UUID: WeakChannel] = [:]
        var links = LinkTables()
        var restoration = RestorationTables()
        var generator: SeededGenerator
        var hostCount = 0
        var advertisementCount = 0
        private(set) var registrations = 0

        /// Returns the number of the next registration.
        mutating func nextSerial() -> Int {
            registrations += 1
            return registrations
        }
    }

    /// A manager under an identifier, for as long as it lives.
    struct Registered<Manager: AnyObject> {
        let serial: Int
        let identifier: UUID
        weak var manager: Manager?
    }

    /// An L2CAP channel, for as long as it lives.
    struct WeakChannel {
        weak var channel: EmulatedCBL2CAPChannel?
    }

    /// The place of a manager in the world.
    struct Place {
        let identifier: UUID
        let host: EmulatedHost
    }

    /// The emulator; managers and the selection keep it alive.
    private(set) weak var emulator: EmulatorBackend?
    let state: Guarded<State>

    init(_ emulator: EmulatorBackend) {
        self.emulator = emulator
        state = Guarded(State(generator: SeededGenerator(seed: emulator.seed)))
        emulator.configure(EmulatorConfiguration.default.backend)
    }

    // MARK: Settings

    var configuration: EmulatorConfiguration { state.withLock { $0.configuration } }

    /// Applies settings from now on.
    func configure(_ configuration: EmulatorConfiguration) {
        state.withLock { $0.configuration = configuration }
        emulator?.configure(configuration.backend)
        for peripheral in peripherals { peripheral.apply(configuration) }
    }

    /// Ends all managers without a callback, and removes everything.
    func end() {
        let (centrals, peripherals) = (centrals, peripherals)
        state.withLock { state in
            state.centrals = []
            state.peripherals = []
            state.channels = [:]
            state.links = LinkTables()
            state.restoration = RestorationTables()
            state.configuration = .default
        }
        emulator?.configure(EmulatorConfiguration.default.backend)
        for central in centrals { central.end() }
        for peripheral in peripherals { peripheral.end() }
    }

    // MARK: Hosts

    /// Returns a new identifier, from the world's seed.
    func makeIdentifier() -> UUID { state.withLock { UUID(from: &$0.generator) } }

    /// Returns a place on a new host.
    func makePlace(_ kind: String, in emulator: EmulatorBackend) -> Place {
        let identifier = makeIdentifier()
        while true {
            let number = state.withLock { state in
                state.hostCount += 1
                return state.hostCount
            }
            do {
                return Place(
                    identifier: identifier, host: try emulator.add(HostDescription(name: "\(kind) manager \(number)")))
            } catch {
                logWarning("\(error): the next name is taken")
            }
        }
    }

    /// Returns a number within 0…1 from the world's seed.
    func makeFraction() -> Double { state.withLock { Double.random(in: 0...1, using: &$0.generator) } }

    /// Returns a whole number within a range from the world's seed.
    func makeNumber(in range: ClosedRange<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.generator) }
    }

    /// Returns the number of the next advertisement.
    func nextAdvertisement() -> Int {
        state.withLock { state in
            state.advertisementCount += 1
            return state.advertisementCount
        }
    }
}

extension UUID {
    /// Creates a random UUID of version 4.
    fileprivate init(from generator: inout SeededGenerator) {
        let (high, low) = (generator.next(), generator.next())
        var bytes = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
