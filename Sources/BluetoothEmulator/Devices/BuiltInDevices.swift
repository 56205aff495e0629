/// The built-in devices' behaviours, which descriptions and world files can name.
///
/// A device of a world file that names one and leaves out its services or its advertising has those of ``device``.
public enum BuiltInHandler: String, Hashable, Sendable, CaseIterable {
    /// A charge that changes when it is told to: ``BatteryHandler``.
    case battery
    /// A button that is pressed, and an LED: ``BlinkyHandler``.
    case blinky
    /// A clock: ``CurrentTimeHandler``.
    case currentTime = "current-time"
    /// A wheel and a crank that turn: ``CyclingHandler``.
    case cycling = "cycling-speed-and-cadence"
    /// What a maker says of its device.
    case deviceInformation = "device-information"
    /// Stores, returns and notifies what is written.
    case echo
    /// A heart that beats: ``HeartRateHandler``.
    case heartRate = "heart-rate"
    /// A thermometer that measures: ``ThermometerHandler``.
    case healthThermometer = "health-thermometer"
    /// A serial line: ``NordicUARTHandler``.
    case nordicUART = "nordic-uart"
    /// Changes its mind about the MTU: ``OddMTUHandler``.
    case oddMTU = "odd-mtu"
    /// Never answers reads and writes: ``SilentHandler``.
    case neverAnswers = "never-answers"
    /// Never answers a discovery: ``SilentHandler``.
    case neverDiscovered = "never-discovered"
    /// Notifies before it was asked to: ``EarlyNotifier``.
    case notifiesTooEarly = "notifies-too-early"
    /// Has as many attributes as there are handles.
    case endlessServices = "endless-services"
    /// Breaks the formats of standard values: ``MalformedValuesHandler``.
    case malformedValues = "malformed-values"
    /// Closes the link as soon as it is open: ``DisconnectingHandler``.
    case disconnectsAtOnce = "disconnects-at-once"
    /// Closes the link when its characteristics are asked for: ``DisconnectingHandler``.
    case disconnectsInDiscovery = "disconnects-in-discovery"
    /// Closes the link when a value is asked for: ``DisconnectingHandler``.
    case disconnectsInRead = "disconnects-in-read"
    /// Uses each UUID many times.
    case equalUUIDs = "equal-uuids"
    /// Has a name that is no text: ``StrangeNameHandler``.
    case strangeName = "strange-name"
    /// Has nothing to say, and says so.
    case emptyValues = "empty-values"
    /// Changes its services ten times a second: ``ChangingServicesHandler``.
    case changingServices = "changing-services"

    static let rule = "the handlers are \(allCases.map(\.rawValue).joined(separator: ", "))"

    /// The behaviour; nil where the description says it all.
    var makeBehaviour: (@Sendable () -> any DeviceBehaviour)? {
        switch self {
        case .battery: { HandledBehaviour(BatteryHandler()) }
        case .blinky: { HandledBehaviour(BlinkyHandler()) }
        case .currentTime: { HandledBehaviour(CurrentTimeHandler()) }
        case .cycling: { HandledBehaviour(CyclingHandler()) }
        case .heartRate: { HandledBehaviour(HeartRateHandler()) }
        case .healthThermometer: { HandledBehaviour(ThermometerHandler()) }
        case .nordicUART: { HandledBehaviour(NordicUARTHandler()) }
        case .oddMTU: { HandledBehaviour(OddMTUHandler()) }
        case .neverAnswers: { HandledBehaviour(SilentHandler(ignores: .values)) }
        case .neverDiscovered: { HandledBehaviour(SilentHandler(ignores: .discovery)) }
        case .notifiesTooEarly: { HandledBehaviour(EarlyNotifier()) }
        case .malformedValues: { HandledBehaviour(MalformedValuesHandler()) }
        case .disconnectsAtOnce: { HandledBehaviour(DisconnectingHandler(when: .connected)) }
        case .disconnectsInDiscovery: { HandledBehaviour(DisconnectingHandler(when: .discovered)) }
        case .disconnectsInRead: { HandledBehaviour(DisconnectingHandler(when: .read)) }
        case .strangeName: { HandledBehaviour(StrangeNameHandler()) }
        case .changingServices: { HandledBehaviour(ChangingServicesHandler()) }
        case .deviceInformation, .echo, .endlessServices, .equalUUIDs, .emptyValues: nil
        }
    }

    /// The built-in device that behaves so.
    public var device: PeripheralDescription {
        switch self {
        case .battery: .battery
        case .blinky: .blinky
        case .currentTime: .currentTime
        case .cycling: .cyclingSpeedAndCadence
        case .deviceInformation: .deviceInformation
        case .echo: .echo
        case .heartRate: .heartRateMonitor
        case .healthThermometer: .healthThermometer
        case .nordicUART: .nordicUART
        case .oddMTU: .oddMTU
        case .neverAnswers: .neverAnswers
        case .neverDiscovered: .neverDiscovered
        case .notifiesTooEarly: .notifiesTooEarly
        case .endlessServices: .endlessServices
        case .malformedValues: .malformedValues
        case .disconnectsAtOnce: .disconnectsAtOnce
        case .disconnectsInDiscovery: .disconnectsInDiscovery
        case .disconnectsInRead: .disconnectsInRead
        case .equalUUIDs: .equalUUIDs
        case .strangeName: .strangeName
        case .emptyValues: .emptyValues
        case .changingServices: .changingServices
        }
    }
}

extension WorldDescription {
    /// The world that an emulator holds where no world file is given: "Heart Rate Monitor", "nRF Blinky" and "Echo".
    public static let builtIn = WorldDescription(devices: [.heartRateMonitor, .blinky, .echo])
}
