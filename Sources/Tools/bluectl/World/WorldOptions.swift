#if Emulator && BlueZ && os(Linux)
public import ArgumentParser
import BluetoothSupport
public import EmulatedBlueZ

/// The options of the commands that show a world to other programs as BlueZ.
struct WorldOptions: ParsableArguments, Sendable {
    @OptionGroup var shared: SharedWorldOptions

    @Option(help: ArgumentHelp("The version of BlueZ that programs see: 5.66, 5.82 or 5.87.", valueName: "V"))
    var dialect = BlueZDialect.bluez5_66

    @Flag(
        help: ArgumentHelp(
            "Show what bluetoothd shows with --experimental.",
            discussion: """
                Battery providers, and the source of a battery, in 5.66; Bearer.LE1 with its methods in 5.87. Monitors of \
                advertisements are always there.
                """))
    var experimental = false

    @Option(
        help: ArgumentHelp(
            "Accept the pairings of programs without an agent, with this passkey if one is needed.",
            discussion: """
                Six digits. The option is your consent to every pairing for which no program has an agent. Without it, \
                such programs pair with no device, as with BlueZ.
                """, valueName: "DIGITS"))
    var passkey: Passkey?

    /// The version of BlueZ, and the answers to pairings.
    var configuration: EmulatedBlueZConfiguration {
        EmulatedBlueZConfiguration(dialect: dialect, isExperimental: experimental, passkey: passkey?.number)
    }

    /// The variable that tells Qt the version of BlueZ, which it otherwise requests from the daemon's program.
    ///
    /// Source: Qt Connectivity, `src/bluetooth/bluez/bluez5_helper.cpp`, `bluetoothdVersion`.
    var versionForQt: (name: String, value: String) { ("BLUETOOTH_FORCE_DBUS_LE_VERSION", dialect.rawValue) }
}

/// The argument for a passkey: six digits.
struct Passkey: ExpressibleByArgument, Equatable, Sendable {
    let number: Int

    init?(argument: String) {
        guard let number = PasskeyText.passkey(argument) else { return nil }
        self.number = number
    }
}

/// The values of `--dialect`.
extension BlueZDialect: ExpressibleByArgument {}
#endif
