/// By which time an emulator lives.
public enum EmulatorTime: Hashable, Sendable {
    /// The machine's time.
    case real
    /// The machine's time, so many times faster; more than 0.
    case scaled(by: Double)
    /// Time that stands until it is driven: ``Emulator/advance(by:)``, ``Emulator/advance(until:within:)``,
    /// ``Emulator/runUntilIdle(within:)`` and their synchronous twins.
    case virtual

    /// How many emulated seconds a real second has; nil for virtual time.
    var factor: Double? {
        switch self {
        case .real: 1
        case .scaled(let factor): factor
        case .virtual: nil
        }
    }
}
