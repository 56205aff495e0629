import Foundation

/// What a spec says of its peripheral, which `simulate…` functions and a simulation change.
struct SpecState {
    /// What a central needs to connect and to use the peripheral.
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
    /// Whether a link to another app of the host is up, or comes up with the adapter's power.
    var isUsedByOtherApp = false
    /// Whether the adapter was switched off, and no link is up.
    var isAdapterOff = false
    /// The managers that are connected.
    var managers: Set<ObjectIdentifier> = []
    /// Whether anyone has ever been connected.
    var wasConnected = false
    /// The simulated devices of the spec: one in each world that has it.
    var devices: [WeakReference<SpecDevice>] = []

    init(identifier: UUID, proximity: CBMProximity) {
        self.identifier = identifier
        self.proximity = proximity
    }

    /// Notes that no link is left.
    mutating func dropLinks() {
        isUsedByOtherApp = false
        managers = []
    }
}
