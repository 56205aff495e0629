/// A step of an app, a device, a user or time.
///
/// Managers are 0 and 1; devices are 0 and 1, and 2 is the peripheral manager, seen from outside. Characteristics are
/// numbered as in ``ProgramWorld``. A step that has no object at its time does nothing.
public enum ProgramStep: Equatable, Sendable {
    // The app, as a central.
    case scan(Int, duplicates: Bool), stopScan(Int), connect(Int, Int), cancel(Int, Int)
    /// The app releases its last reference.
    case forget(Int, Int)
    /// The app releases the manager, and creates another one.
    case remake(Int)
    case services(Int, Int), characteristics(Int, Int), descriptors(Int, Int, Int), rssi(Int, Int)
    case read(Int, Int, Int), write(Int, Int, Int, count: Int), command(Int, Int, Int, count: Int)
    case subscribe(Int, Int, Int, Bool)

    // The devices.
    case value(Int, Int, count: Int), disconnect(Int), crash(Int), range(Int, Bool), onAir(Int, Bool), hold(Int, Bool)
    case addService(Int), removeService(Int), rename(Int)

    // The host.
    case power(Bool), reset, authorize(Bool), plug(Bool)

    // The app, as a peripheral.
    case publish(Bool), advertise(Bool), answer(ProgramAnswer), answerHeld, update(Int, count: Int)

    case wait(milliseconds: Int)

    /// The step as Swift code.
    public var code: String { ".\(self)" }
}

/// The way in which the peripheral manager answers requests.
public enum ProgramAnswer: Equatable, Sendable, CustomDebugStringConvertible {
    case atOnce, refuse, later

    /// The answer as Swift code.
    public var debugDescription: String {
        switch self {
        case .atOnce: ".atOnce"
        case .refuse: ".refuse"
        case .later: ".later"
        }
    }
}
