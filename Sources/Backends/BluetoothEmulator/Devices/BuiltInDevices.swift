import BluetoothBackend

/// The behaviors of the built-in devices, which descriptions and world files can name.
///
/// A device of a world file that names one without services or advertising uses those of ``device``.
public enum BuiltInHandler: String, Hashable, Sendable, CaseIterable {
    /// A battery whose charge can be set: ``BatteryHandler``.
    case battery
    /// A button and an LED: ``BlinkyHandler``.
    case blinky
    /// A clock: ``CurrentTimeHandler``.
    case currentTime = "current-time"
    /// A turning wheel and crank: ``CyclingHandler``.
    case cycling = "cycling-speed-and-cadence"
    /// The values of Device Information.
    case deviceInformation = "device-information"
    /// A device that stores, returns and notifies what is written to it.
    case echo
    /// A beating heart: ``HeartRateHandler``.
    case heartRate = "heart-rate"
    /// A measuring thermometer: ``ThermometerHandler``.
    case healthThermometer = "health-thermometer"
    /// A serial line: ``NordicUARTHandler``.
    case nordicUART = "nordic-uart"
    /// A device that changes the MTU later: ``OddMTUHandler``.
    case oddMTU = "odd-mtu"
    /// A device that never answers reads and writes: ``SilentHandler``.
    case neverAnswers = "never-answers"
    /// A device that never answers a discovery: ``SilentHandler``.
    case neverDiscovered = "never-discovered"
    /// A device that notifies before a central subscribes: ``EarlyNotifier``.
    case notifiesTooEarly = "notifies-too-early"
    /// A device with a very large number of attributes.
    case endlessServices = "endless-services"
    /// A device whose values break the standard formats: ``MalformedValuesHandler``.
    case malformedValues = "malformed-values"
    /// A device that closes each link as soon as it is open: ``DisconnectingHandler``.
    case disconnectsAtOnce = "disconnects-at-once"
    /// A device that closes the link during the discovery of its characteristics: ``DisconnectingHandler``.
    case disconnectsInDiscovery = "disconnects-in-discovery"
    /// A device that closes the link when a value is read: ``DisconnectingHandler``.
    case disconnectsInRead = "disconnects-in-read"
    /// A device that uses each UUID several times.
    case equalUUIDs = "equal-uuids"
    /// A device whose name is not valid text: ``StrangeNameHandler``.
    case strangeName = "strange-name"
    /// A device whose values are empty.
    case emptyValues = "empty-values"
    /// A device that changes its services ten times a second: ``ChangingServicesHandler``.
    case changingServices = "changing-services"

    /// The built-in device with this behavior.
    public var device: PeripheralDescription { parts.device }

    /// Creates the behavior; nil if the description suffices.
    var makeBehavior: (@Sendable () -> any DeviceBehavior)? { parts.makeBehavior }

    private var parts: (device: PeripheralDescription, makeBehavior: (@Sendable () -> any DeviceBehavior)?) {
        switch self {
        case .battery: (.battery, { HandledBehavior(BatteryHandler()) })
        case .blinky: (.blinky, { HandledBehavior(BlinkyHandler()) })
        case .currentTime: (.currentTime, { HandledBehavior(CurrentTimeHandler()) })
        case .cycling: (.cyclingSpeedAndCadence, { HandledBehavior(CyclingHandler()) })
        case .deviceInformation: (.deviceInformation, nil)
        case .echo: (.echo, nil)
        case .heartRate: (.heartRateMonitor, { HandledBehavior(HeartRateHandler()) })
        case .healthThermometer: (.healthThermometer, { HandledBehavior(ThermometerHandler()) })
        case .nordicUART: (.nordicUART, { HandledBehavior(NordicUARTHandler()) })
        case .oddMTU: (.oddMTU, { HandledBehavior(OddMTUHandler()) })
        case .neverAnswers: (.neverAnswers, { HandledBehavior(SilentHandler(ignores: .values)) })
        case .neverDiscovered: (.neverDiscovered, { HandledBehavior(SilentHandler(ignores: .discovery)) })
        case .notifiesTooEarly: (.notifiesTooEarly, { HandledBehavior(EarlyNotifier()) })
        case .endlessServices: (.endlessServices, nil)
        case .malformedValues: (.malformedValues, { HandledBehavior(MalformedValuesHandler()) })
        case .disconnectsAtOnce: (.disconnectsAtOnce, { HandledBehavior(DisconnectingHandler(when: .connected)) })
        case .disconnectsInDiscovery:
            (.disconnectsInDiscovery, { HandledBehavior(DisconnectingHandler(when: .discovered)) })
        case .disconnectsInRead: (.disconnectsInRead, { HandledBehavior(DisconnectingHandler(when: .read)) })
        case .equalUUIDs: (.equalUUIDs, nil)
        case .strangeName: (.strangeName, { HandledBehavior(StrangeNameHandler()) })
        case .emptyValues: (.emptyValues, nil)
        case .changingServices: (.changingServices, { HandledBehavior(ChangingServicesHandler()) })
        }
    }
}

extension WorldDescription {
    /// The world of an emulator without a world file: "Heart Rate Monitor", "nRF Blinky" and "Echo".
    public static let builtIn = WorldDescription(devices: [.heartRateMonitor, .blinky, .echo])
}

extension BuiltInHandler {
    /// The parameters of the behavior, and their ranges.
    public var parameters: [DeviceParameter: ClosedRange<Double>] {
        let battery: [DeviceParameter: ClosedRange<Double>] = [.batteryLevel: 0...100]
        return switch self {
        case .battery: battery
        case .heartRate:
            battery.merging([
                .heartRate: 0...65_535, .sensorContact: 0...1, .sensorContactSupported: 0...1,
                .energyExpended: 0...65_535,
            ]) { $1 }
        case .healthThermometer:
            battery.merging([.temperature: -100...300, .fahrenheit: 0...1, .measurementInterval: 0...65_535]) { $1 }
        case .cycling: battery.merging([.cadence: 0...400, .wheelRate: 0...2_000]) { $1 }
        case .currentTime: [.timeOffset: -1e9...1e9, .timeZone: -48...56, .daylightSaving: 0...8]
        default: [:]
        }
    }

    /// Checks the parameters of a description.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    func validate(_ values: [DeviceParameter: Double], path: String) throws(DescriptionError) {
        for (parameter, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let range = parameters[parameter] else {
                let known = parameters.keys.map(\.rawValue).sorted().joined(separator: ", ")
                throw DescriptionError(
                    "\(path).\(parameter.rawValue)",
                    "the handler \(rawValue) has \(known.isEmpty ? "no parameters" : "the parameters \(known)")")
            }
            guard range.contains(value) else {
                throw DescriptionError(
                    "\(path).\(parameter.rawValue)",
                    "the range is \(range.lowerBound.whole(in: .min ... .max))...\(range.upperBound.whole(in: .min ... .max))"
                )
            }
        }
    }
}

extension PeripheralDescription {
    /// Checks that parameters occur only with a handler.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    func validateParameters(path: String = "") throws(DescriptionError) {
        try require(
            handler != nil || parameters.isEmpty, "\(path)parameters", "only a device with a handler has parameters")
    }
}

extension PeripheralDescription {
    /// Creates a device that advertises its name and its first service.
    static func builtIn(
        _ name: String, _ address: DeviceAddress, services: [ServiceDescription], handler: BuiltInHandler? = nil,
        parameters: [DeviceParameter: Double] = [:]
    ) -> PeripheralDescription {
        // A UUID of 128 bits does not fit into the packet with the name.
        let isShort = services.first?.uuid.bits16 != nil
        let data = AdvertisingData(localName: name, services: isShort ? services.prefix(1).map(\.uuid) : [])
        let scanResponse = isShort ? nil : AdvertisingData(services: services.prefix(1).map(\.uuid))
        return PeripheralDescription(
            name: name, address: address, advertising: [AdvertisingDescription(data, scanResponse: scanResponse)],
            services: services, handler: handler, parameters: parameters)
    }
}

/// The subscribers of each characteristic of a device, maintained from its events.
struct Subscribers<Key: Hashable & Comparable & Sendable>: Hashable, Sendable {
    /// A change that gives a characteristic its first subscriber or takes its last one.
    enum Change: Hashable, Sendable {
        case began(Key)
        case ended(Key)
    }

    private var centrals: [Key: Set<DeviceAddress>] = [:]

    /// Applies an event and returns its changes; a disconnection may end several subscriptions.
    ///
    /// - Parameter key: Returns the key of a characteristic with a number and a UUID.
    mutating func apply(_ event: DeviceEvent, by key: (AttributeID, BluetoothUUID) -> Key) -> [Change] {
        switch event {
        case .subscribed(let central, let attribute, let uuid):
            let characteristic = key(attribute, uuid)
            let isFirst = centrals[characteristic] == nil
            centrals[characteristic, default: []].insert(central.address)
            return isFirst ? [.began(characteristic)] : []
        case .unsubscribed(let central, let attribute, let uuid):
            return remove(central.address, from: key(attribute, uuid))
        case .disconnected(let central):
            return centrals.keys.sorted().flatMap { remove(central.address, from: $0) }
        default: return []
        }
    }

    private mutating func remove(_ central: DeviceAddress, from characteristic: Key) -> [Change] {
        guard centrals[characteristic]?.remove(central) != nil, centrals[characteristic]?.isEmpty == true else {
            return []
        }
        centrals[characteristic] = nil
        return [.ended(characteristic)]
    }

    /// Whether a central subscribes to a characteristic.
    func contains(_ characteristic: Key) -> Bool { centrals[characteristic] != nil }

    /// Whether a particular central subscribes to a characteristic.
    func contains(_ characteristic: Key, from central: CentralIdentity) -> Bool {
        centrals[characteristic]?.contains(central.address) == true
    }
}

extension Subscribers<BluetoothUUID> {
    /// Applies an event to characteristics whose UUIDs are unique, and returns its changes.
    mutating func apply(_ event: DeviceEvent) -> [Change] { apply(event) { _, uuid in uuid } }
}
