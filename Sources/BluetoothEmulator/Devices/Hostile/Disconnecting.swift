import BluetoothBackend

extension PeripheralDescription {
    /// A device that closes each link as soon as it is open.
    ///
    /// Finds apps that connect again at once, for ever, or that keep what they made in `didConnect`.
    public static let disconnectsAtOnce = hostile(
        "Disconnects At Once", services: [.plain], handler: .disconnectsAtOnce)

    /// A device that tells its services and closes the link when their characteristics are asked for.
    ///
    /// Finds apps that wait for `didDiscoverCharacteristicsFor` after `didDisconnectPeripheral`.
    public static let disconnectsInDiscovery = hostile(
        "Disconnects In Discovery", services: [.plain], handler: .disconnectsInDiscovery)

    /// A device that closes the link when a value is asked for.
    ///
    /// Finds apps that wait for `didUpdateValueFor` after `didDisconnectPeripheral`, and apps that read again as soon as
    /// they are connected, for ever.
    public static let disconnectsInRead = hostile(
        "Disconnects In Read", services: [.plain], handler: .disconnectsInRead)
}

/// Closes the link at the worst moment.
public struct DisconnectingHandler: EmulatedPeripheralHandler {
    /// A bad moment.
    public enum Moment: Hashable, Sendable {
        /// A central connected.
        case connected
        /// The characteristics of a service are asked for.
        case discovered
        /// A value is asked for.
        case read
    }

    private let moment: Moment

    /// A device that leaves.
    public init(when moment: Moment) { self.moment = moment }

    /// Leaves when a value is asked for, if that is the moment.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard moment == .read, request.kind == .read else { return .stored }
        device.disconnect()
        return .unanswered
    }

    /// Leaves when characteristics are asked for, if that is the moment.
    public func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, state: inout Void, device: inout DeviceActions
    ) -> ProcedureResponse {
        guard moment == .discovered, case .discoverCharacteristics = procedure else { return .granted }
        device.disconnect()
        return .unanswered
    }

    /// Leaves on a connection, if that is the moment.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        if moment == .connected, case .connected = event { device.disconnect() }
    }
}
