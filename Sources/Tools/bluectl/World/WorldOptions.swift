#if Emulator && BlueZ && os(Linux)
public import ArgumentParser
import BluetoothEmulator
import BluetoothSupport
public import EmulatedBlueZ
import EmulatedHCI

/// The common options of the commands that show a world to other programs.
struct WorldOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "A file that describes the devices, in JSON or YAML.",
            discussion: "Default: COREBLUETOOTH_WORLD, else three built-in devices.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String?

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

    @Flag(help: "Show the devices in a browser, and print the address.")
    var view = false

    @Option(help: ArgumentHelp("The port of --view on 127.0.0.1; 0 selects a free one.", valueName: "PORT"))
    var port: UInt16?

    @Option(
        name: .customLong("hci"),
        help: ArgumentHelp(
            "Attach a host outside of the emulator: firmware, or any Bluetooth stack.",
            discussion: """
                ADDRESS is where the host finds its controller, in the format of UART (H4): tcp:127.0.0.1:9033 (0 selects a \
                free port), unix:PATH, or pty; or vhci, for this machine's own kernel (root). NAME is the name of the \
                host in the world: a new one, "external" if it is omitted. Can be repeated.
                """, valueName: "[NAME=]ADDRESS"))
    var externalHosts: [ExternalHostOption] = []

    /// The port for a browser; nil for none.
    var browserPort: UInt16? { view ? port ?? 0 : nil }

    /// The version of BlueZ, and the answers to pairings.
    var configuration: EmulatedBlueZConfiguration {
        EmulatedBlueZConfiguration(dialect: dialect, isExperimental: experimental, passkey: passkey?.number)
    }

    /// The variable that tells Qt the version of BlueZ, which it otherwise requests from the daemon's program.
    ///
    /// Source: Qt Connectivity, `src/bluetooth/bluez/bluez5_helper.cpp`, `bluetoothdVersion`.
    var versionForQt: (name: String, value: String) { ("BLUETOOTH_FORCE_DBUS_LE_VERSION", dialect.rawValue) }

    /// Checks the common options, some of which have no use here.
    func validate(_ global: GlobalOptions) throws {
        if port != nil, !view { throw ValidationError("--port is the port of --view: add --view") }
        if let backend = global.backend, backend != .emulator {
            throw ValidationError("world shows emulated devices, not those of \(backend.rawValue)")
        }
        let names = externalHosts.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError("--hci names the host \"\(twice)\" twice: write --hci NAME=ADDRESS")
        }
        if global.world != nil { throw ValidationError("world takes a FILE: omit --world") }
        if global.adapter != nil {
            throw ValidationError("each program chooses its adapter, hci0 or another host of the file: omit --adapter")
        }
    }

    /// Opens the ports of the hosts outside of the emulator.
    ///
    /// - Throws: A failure that names the port.
    func openPorts(_ emulator: Emulator) throws(Failure) -> [ExternalHostPort] {
        var ports: [ExternalHostPort] = []
        for option in externalHosts {
            do throws(HCIPortError) {
                ports.append(
                    ExternalHostPort(
                        name: option.name, port: try HCIPort.open(emulator, host: option.name, on: option.address)))
            } catch {
                throw Failure(.failed, PrintableText.of(error.description))
            }
        }
        return ports
    }

    /// Creates the emulator with the devices of the file; its hosts request the MTU that bluetoothd requests and send
    /// as many advertisements at a time as Linux does.
    ///
    /// - Throws: A usage failure for a file with a mistake.
    func emulator(_ global: GlobalOptions) throws(Failure) -> Emulator {
        try BackendSelector.makeEmulator(world: file ?? global.effectiveWorld, global.emulatorChoice) { configuration in
            configuration.keepTraceForView()
            // A preset with its own values keeps them.
            let standard = EmulatorConfiguration.default
            if configuration.maximumMTU == standard.maximumMTU { configuration.maximumMTU = 517 }
            if configuration.maximumAdvertisingSets == standard.maximumAdvertisingSets {
                configuration.maximumAdvertisingSets = 5
            }
        }
    }
}

/// The argument of `--hci`.
struct ExternalHostOption: ExpressibleByArgument, Equatable, Sendable {
    let name: String
    let address: HCIPortAddress

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        do throws(HCIPortError) {
            address = try HCIPortAddress(parts[parts.count - 1])
        } catch {
            return nil
        }
        name = parts.count > 1 ? parts[0] : "external"
        if name.isEmpty { return nil }
    }
}

/// An open port for a host outside of the emulator.
struct ExternalHostPort: Sendable {
    let name: String
    let port: HCIPort

    /// The place where the host finds its controller.
    var place: String { port.place }
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
