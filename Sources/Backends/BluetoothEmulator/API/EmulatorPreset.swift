/// A named preset of the settings, as world files choose it.
public enum EmulatorPreset: String, Hashable, Sendable, CaseIterable {
    /// The preset ``EmulatorConfiguration/default``.
    case `default`
    /// The preset ``EmulatorConfiguration/instant``.
    case instant
    /// The preset ``EmulatorConfiguration/slow``.
    case slow
    /// The preset ``EmulatorConfiguration/unreliable``.
    case unreliable

    /// The settings of the preset.
    public var configuration: EmulatorConfiguration {
        switch self {
        case .default: .default
        case .instant: .instant
        case .slow: .slow
        case .unreliable: .unreliable
        }
    }
}
