/// The emulated world's settings, for code without `await`.
///
/// All take effect before they return. The world is that of the task's emulator (the trait `.emulator(…)`,
/// `EmulatorTestCase`, `CBManager.withBackend`), otherwise that of the process.
public enum Emulator {
    /// Applies settings from now on.
    public static func configure(_ configuration: EmulatorConfiguration) {
        EmulatedWorld.current.configure(configuration)
    }

    /// The settings in force.
    public static func getConfiguration() async -> EmulatorConfiguration { EmulatedWorld.current.configuration }

    /// Ends all managers and forgets everything, settings included; see ``EmulatorBus/reset()``.
    public static func reset() { EmulatedWorld.reset() }

    /// Always true: the classes of this module have no other emulator.
    public static var isEmulated: Bool { true }
}
