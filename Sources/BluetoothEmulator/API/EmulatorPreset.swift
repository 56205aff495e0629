/// A preset of the settings by its name, as world files choose it.
public enum EmulatorPreset: String, Hashable, Sendable, CaseIterable {
    /// ``EmulatorConfiguration/default``.
    case `default`
    /// ``EmulatorConfiguration/instant``.
    case instant
    /// ``EmulatorConfiguration/slow``.
    case slow
    /// ``EmulatorConfiguration/unreliable``.
    case unreliable

    /// The settings.
    public var configuration: EmulatorConfiguration {
        switch self {
        case .default: .default
        case .instant: .instant
        case .slow: .slow
        case .unreliable: .unreliable
        }
    }
}
