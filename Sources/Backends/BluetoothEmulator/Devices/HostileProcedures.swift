import BluetoothBackend
import BluetoothSupport
import BluetoothValues

extension PeripheralDescription {
    /// The misbehaving devices, to run an app against each of them.
    public static let hostile: [PeripheralDescription] = [
        .oddMTU, .neverAnswers, .neverDiscovered, .notifiesTooEarly, .endlessServices, .malformedValues,
        .disconnectsAtOnce, .disconnectsInDiscovery, .disconnectsInRead, .equalUUIDs, .strangeName, .emptyValues,
        .changingServices,
    ]

    /// Creates a misbehaving device that advertises its name.
    static func hostile(
        _ name: String, services: [ServiceDescription], maximumMTU: Int = ATTLimits.maximumMTU, handler: BuiltInHandler
    ) -> PeripheralDescription {
        PeripheralDescription(
            name: name, advertising: [AdvertisingDescription(AdvertisingData(localName: name))], services: services,
            maximumMTU: maximumMTU, handler: handler)
    }
}

extension ServiceDescription {
    /// The service of most misbehaving devices: one characteristic with read, write and notify.
    static let plain = ServiceDescription(
        "FFF0",
        characteristics: [
            CharacteristicDescription("FFF1", [.read, .write, .writeWithoutResponse, .notify], value: Data([1, 2, 3]))
        ])
}

extension PeripheralDescription {
    /// A device that allows discovery but answers no read and no write.
    ///
    /// Finds apps without a timeout, which wait half a minute until the link ends, and apps that queue requests without
    /// a limit.
    public static let neverAnswers = hostile("Never Answers", services: [.plain], handler: .neverAnswers)

    /// A device that accepts connections but answers no discovery.
    ///
    /// Finds apps that show "connected" and nothing else until the link ends after half a minute.
    public static let neverDiscovered = hostile("Never Discovered", services: [.plain], handler: .neverDiscovered)
}

/// Leaves requests without an answer; the central drops the link after 30 s.
public struct SilentHandler: EmulatedPeripheralHandler {
    /// The requests that remain unanswered.
    public enum Silence: Hashable, Sendable {
        /// Reads and writes.
        case values
        /// Discoveries.
        case discovery
    }

    private let silence: Silence

    /// Creates a handler that leaves some requests unanswered.
    public init(ignores silence: Silence) { self.silence = silence }

    /// Leaves reads and writes unanswered if these are ignored.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        silence == .values ? .unanswered : .stored
    }

    /// Leaves discoveries unanswered if these are ignored.
    public func respond(
        to procedure: PeripheralProcedure, state: inout Void, device: inout DeviceActions
    ) -> ProcedureResponse {
        guard silence == .discovery else { return .granted }
        switch procedure.kind {
        case .subscribe, .unsubscribe: return .granted
        default: return .unanswered
        }
    }
}

extension PeripheralDescription {
    /// A device that notifies as soon as it is connected, and once more just before it confirms a subscription.
    ///
    /// Finds apps that take the first value as the confirmation of the subscription, or that prepare for values only in
    /// `didUpdateNotificationStateFor`.
    public static let notifiesTooEarly = hostile("Notifies Too Early", services: [.plain], handler: .notifiesTooEarly)
}

/// Notifies "A" on connection, which the host drops, and "B" between the subscription and its confirmation.
public struct EarlyNotifier: EmulatedPeripheralHandler {
    /// Creates the handler.
    public init() {}

    /// Notifies on connection and on subscription.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        switch event {
        case .connected: device.notifyAtOnce("FFF1", value: Data("A".utf8))
        case .subscribed: device.notifyAtOnce("FFF1", value: Data("B".utf8))
        default: break
        }
    }
}

extension PeripheralDescription {
    /// A device with an MTU of 27 bytes, which changes to 24, 517 and 23 after a connection of one, two and three
    /// seconds.
    ///
    /// Finds apps that query the writable length only once, that assume 20 or 182, or that split a message while its
    /// size changes.
    public static let oddMTU = hostile("Odd MTU", services: [.plain], maximumMTU: 27, handler: .oddMTU)
}

/// Exchanges the MTU later than expected.
public struct OddMTUHandler: EmulatedPeripheralHandler {
    static let sizes = [24, ATTLimits.maximumMTU, ATTLimits.minimumMTU]

    /// Creates the handler.
    public init() {}

    /// Changes the MTU after one, two and three seconds of a connection.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        switch event {
        case .connected:
            for index in Self.sizes.indices { device.startTimer(index, after: .seconds(index + 1)) }
        case .disconnected: for index in Self.sizes.indices { device.stopTimer(index) }
        case .timer(let index) where Self.sizes.indices.contains(index): device.exchangeMTU(Self.sizes[index])
        default: break
        }
    }
}

extension PeripheralDescription {
    /// A device that closes each link as soon as it is open.
    ///
    /// Finds apps that reconnect at once without end, or that keep what they created in `didConnect`.
    public static let disconnectsAtOnce = hostile(
        "Disconnects At Once", services: [.plain], handler: .disconnectsAtOnce)

    /// A device that lists its services but closes the link during the discovery of their characteristics.
    ///
    /// Finds apps that wait for `didDiscoverCharacteristicsFor` after `didDisconnectPeripheral`.
    public static let disconnectsInDiscovery = hostile(
        "Disconnects In Discovery", services: [.plain], handler: .disconnectsInDiscovery)

    /// A device that closes the link when a value is read.
    ///
    /// Finds apps that wait for `didUpdateValueFor` after `didDisconnectPeripheral`, and apps that read again after
    /// each connection without end.
    public static let disconnectsInRead = hostile(
        "Disconnects In Read", services: [.plain], handler: .disconnectsInRead)
}

/// Closes the link at a chosen moment.
public struct DisconnectingHandler: EmulatedPeripheralHandler {
    /// The moment at which the link is closed.
    public enum Moment: Hashable, Sendable {
        /// A central connected.
        case connected
        /// The central discovers the characteristics of a service.
        case discovered
        /// The central reads a value.
        case read
    }

    private let moment: Moment

    /// Creates a handler that closes the link at a moment.
    public init(when moment: Moment) { self.moment = moment }

    /// Closes the link on a read, if that is the moment.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard moment == .read, request.kind == .read else { return .stored }
        device.disconnect()
        return .unanswered
    }

    /// Closes the link on a discovery of characteristics, if that is the moment.
    public func respond(
        to procedure: PeripheralProcedure, state: inout Void, device: inout DeviceActions
    ) -> ProcedureResponse {
        guard moment == .discovered, procedure.kind == .discoverCharacteristics else { return .granted }
        device.disconnect()
        return .unanswered
    }

    /// Closes the link on a connection, if that is the moment.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        if moment == .connected, case .connected = event { device.disconnect() }
    }
}
