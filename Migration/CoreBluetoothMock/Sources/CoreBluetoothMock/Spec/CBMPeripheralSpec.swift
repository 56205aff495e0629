import CoreBluetooth

/// A simulated peripheral: its advertising, its services and its behavior.
///
/// Created with ``simulatePeripheral(identifier:proximity:)``; simulated once
/// `CBMCentralManagerMock.simulatePeripherals(_:)` has it. Changes by `simulate…` functions stay with the spec from one
/// simulation to the next.
///
/// Thread rule: all members may be used from any thread, including in hooks of the delegate and in callbacks.
public class CBMPeripheralSpec: Equatable,
    // Invariant: mutable state is under the lock of `fields`.
    @unchecked Sendable
{
    let fields: Protected<SpecState>

    init(_ state: SpecState) { fields = Protected(state) }

    /// The peripheral's identifier on the host.
    public var identifier: UUID { fields.withLock { $0.identifier } }
    /// The GAP Device Name; nil for a peripheral that does not connect.
    public var name: String? { fields.withLock { $0.name } }
    /// The distance to the host.
    public var proximity: CBMProximity { fields.withLock { $0.proximity } }
    /// Whether the host has seen it: it can be retrieved without a scan.
    public var isKnown: Bool { fields.withLock { $0.isKnown } }
    /// The advertising sets; nil for a peripheral that does not advertise.
    public var advertisement: [CBMAdvertisementConfig]? { fields.withLock { $0.advertisement } }
    /// The services; nil for a peripheral that does not connect.
    public var services: [CBMServiceMock]? { fields.withLock { $0.connection?.services } }
    /// The connection interval in seconds; nil for a peripheral that does not connect.
    public var connectionInterval: TimeInterval? { fields.withLock { $0.connection?.interval } }
    /// The largest ATT MTU in bytes, 23...517; nil for a peripheral that does not connect.
    public var mtu: Int? { fields.withLock { $0.connection?.mtu } }
    /// The time without a packet after which a link is lost, in seconds; nil for a peripheral that does not connect.
    public var supervisionTimeout: TimeInterval? { fields.withLock { $0.connection?.supervisionTimeout } }
    /// The behavior; nil for a peripheral that does not connect.
    public var connectionDelegate: (any CBMPeripheralSpecDelegate)? { fields.withLock { $0.connection?.delegate } }
    /// Whether any app of the host is connected.
    public var isConnected: Bool { virtualConnections > 0 }

    /// The number of connected managers and other apps.
    var virtualConnections: Int {
        fields.withLock { $0.managers.count + ($0.isUsedByOtherApp && !$0.isAdapterOff ? 1 : 0) }
    }
    /// Whether any app has ever been connected, so that the host knows the GAP Device Name.
    var wasConnected: Bool { fields.withLock { $0.wasConnected } }

    /// Records that the adapter was switched on, or off with all links of the peripheral.
    func adapterChanged(isOn: Bool) {
        fields.withLock { fields in
            fields.isAdapterOff = !isOn
            if !isOn { fields.managers = [] }
        }
    }

    /// Whether both have the same identifier.
    public static func == (left: CBMPeripheralSpec, right: CBMPeripheralSpec) -> Bool {
        left.identifier == right.identifier
    }

    /// Begins the description of a peripheral.
    ///
    /// - Parameters:
    ///   - identifier: The peripheral's identifier on the host.
    ///   - proximity: The distance to the host.
    public static func simulatePeripheral(
        identifier: UUID = UUID(), proximity: CBMProximity = .immediate
    ) -> Builder {
        Builder(identifier: identifier, proximity: proximity)
    }
}
