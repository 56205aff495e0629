/// The handlers that descriptions, and so world files, can name.
public enum BuiltInHandler: String, Hashable, Sendable, CaseIterable {
    /// A heart that beats: see ``HeartRateHandler``.
    case heartRate = "heart-rate"
    /// A button that is pressed, and an LED: see ``BlinkyHandler``.
    case blinky

    static let rule = "the handlers are \(allCases.map(\.rawValue).joined(separator: ", "))"

    func makeBehaviour() -> any DeviceBehaviour {
        switch self {
        case .heartRate: HandledBehaviour(HeartRateHandler())
        case .blinky: HandledBehaviour(BlinkyHandler())
        }
    }
}

extension WorldDescription {
    /// The world that an emulator holds where no world file is given: "Heart Rate Monitor", "nRF Blinky" and "Echo".
    public static let builtIn = WorldDescription(devices: [.heartRateMonitor, .blinky, .echo])
}
