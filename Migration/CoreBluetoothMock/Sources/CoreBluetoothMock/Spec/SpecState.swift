import Foundation

/// The state of a spec, which `simulate…` functions and a simulation change.
struct SpecState {
    /// The data that a central needs to connect and to use the peripheral.
    struct Connection {
        var services: [CBMServiceMock]
        let delegate: (any CBMPeripheralSpecDelegate)?
        let interval: TimeInterval
        let supervisionTimeout: TimeInterval
        let mtu: Int
    }

    var identifier: UUID
    var name: String?
    var proximity: CBMProximity
    var isKnown = false
    var advertisement: [CBMAdvertisementConfig]?
    var connection: Connection?
    /// Whether a link to another app of the host is up, or is restored when the adapter is switched on.
    var isUsedByOtherApp = false
    /// Whether the adapter was switched off, and no link is up.
    var isAdapterOff = false
    /// The managers that are connected.
    var managers: Set<ObjectIdentifier> = []
    /// Whether any app has ever been connected.
    var wasConnected = false
    /// The simulated devices of the spec: one in each world that has it.
    var devices: [WeakReference<SpecDevice>] = []

    init(identifier: UUID, proximity: CBMProximity) {
        self.identifier = identifier
        self.proximity = proximity
    }

    /// Records that no link is left.
    mutating func dropLinks() {
        isUsedByOtherApp = false
        managers = []
    }
}
