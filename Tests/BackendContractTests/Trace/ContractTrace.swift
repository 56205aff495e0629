import BluetoothSupport
import CoreBluetooth
import Synchronization

/// The delegate of a scenario's managers, peripherals and agents: each callback is an event, with its values and its
/// error.
///
/// Some callbacks have a separate list or counter, because their number depends on the adapter: sightings,
/// states of the adapter, names, and readiness to send.
final class ContractTrace: NSObject, Sendable {
    /// One `didDiscover`.
    struct Sighting: Sendable {
        var identifier: UUID
        var advertisedName: String?
        var services: Set<ContractAttribute>?
        var manufacturerData: Data?
        var serviceData: [ContractAttribute: Data]?
        var txPower: Int?
        var isConnectable: Bool?
        var rssi: Int
    }

    /// A central's request that the app has not taken yet.
    enum Request: Sendable {
        case read(Carried<CBATTRequest>)
        case write([Carried<CBATTRequest>])
    }

    struct State: Sendable {
        var events: [ContractEvent] = []
        var requests: [Request] = []
        var pairingRequests: [CBPairingRequest] = []
        /// Whether the user consents at once to each pairing.
        var consentsAtOnce = false
        var channels: [Carried<CBL2CAPChannel>] = []
        var psms: [CBL2CAPPSM] = []
        var restoredPeripherals: [Carried<CBPeripheral>] = []
        var restoredServices: [Carried<CBMutableService>] = []
        var sightings: [Sighting] = []
        var states: [CBManagerState] = []
        var names: [String?] = []
        var readyCount = 0
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    var events: [ContractEvent] { state.withLock { $0.events } }
    var sightings: [Sighting] { state.withLock { $0.sightings } }
    var states: [CBManagerState] { state.withLock { $0.states } }
    var names: [String?] { state.withLock { $0.names } }
    /// The number of announcements that there was room to send again, or that everything was sent.
    var readyCount: Int { state.withLock { $0.readyCount } }
    var pairingRequests: [CBPairingRequest] { state.withLock { $0.pairingRequests } }
    /// The opened channels; retained, because a channel closes when it is released.
    var channels: [Carried<CBL2CAPChannel>] { state.withLock { $0.channels } }
    /// The published PSMs.
    var psms: [CBL2CAPPSM] { state.withLock { $0.psms } }
    var restoredPeripherals: [CBPeripheral] { state.withLock { $0.restoredPeripherals }.map(\.object) }
    var restoredServices: [CBMutableService] { state.withLock { $0.restoredServices }.map(\.object) }

    func clearSightings() { state.withLock { $0.sightings = [] } }

    func releaseChannels() {
        // Deallocated outside the lock.
        let released = state.withLock { exchange(&$0.channels, with: []) }
        withExtendedLifetime(released) {}
    }

    /// Removes and returns the oldest request of a central.
    func nextRequest() -> Request? { state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() } }

    /// Calls `body` after each callback, until ``stopWatching(_:)``.
    func watch(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = body
            return state.lastWaiter
        }
    }

    func stopWatching(_ number: UInt64) { state.withLock { $0.waiters[number] = nil } }

    /// Records an event, together with the changes of `body`.
    func record(_ event: ContractEvent, _ error: (any Error)? = nil, with body: (inout State) -> Void = { _ in }) {
        let event = error.map { event.failing($0) } ?? event
        change { state in
            state.events.append(event)
            body(&state)
        }
    }

    /// Records a change that is not an event.
    func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter() }
    }

    /// Records an opened or refused channel.
    func record(_ opened: ContractEvent.OpenedChannel, _ channel: CBL2CAPChannel?, _ error: (any Error)?) {
        let retained = channel.map(Carried.init)
        record(.didOpen(opened), error) { state in
            if let retained { state.channels.append(retained) }
        }
    }
}
