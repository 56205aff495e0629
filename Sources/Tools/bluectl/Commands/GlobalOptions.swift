public import ArgumentParser
public import BluetoothBackend
public import BluetoothProfiles
import Foundation

#if Emulator
import BluetoothEmulator
#endif

/// The common options of all commands; they may also precede the command.
struct GlobalOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The backend: bluez, emulator, or auto (BlueZ if it has an adapter, else the emulator).",
            discussion: "Default: COREBLUETOOTH_BACKEND, else bluez."))
    var backend: BackendChoice?

    @Option(
        help: ArgumentHelp(
            "The adapter: hci1 or an address; for the emulator, the name or address of a host.",
            discussion: "Default: COREBLUETOOTH_ADAPTER, else the first.", valueName: "A"))
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "A file that describes emulated devices, in JSON or YAML.",
            discussion: "Default: COREBLUETOOTH_WORLD, else three built-in devices.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var world: String?

    @Option(
        help: ArgumentHelp(
            "The seed for the emulator's random choices.", discussion: "Default: the world file's, else 1.",
            valueName: "N"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "The settings of an emulator: \(GlobalOptions.presets.joined(separator: ", ")).",
            discussion: "Default: the world file's, else default.", valueName: "NAME"))
    var preset: String?

    @Option(help: ArgumentHelp("The time limit of each step.", valueName: "SECONDS"))
    var timeout = Seconds(15)

    @Flag(help: "Print JSON, one object per line.")
    var json = false

    @Flag(help: "Begin each line of results with the time, in ISO 8601 and UTC; with --json, add the field \"time\".")
    var timestamps = false

    @Option(
        help: ArgumentHelp(
            "Capture the emulated packets in a file, for Wireshark, tshark or btmon.",
            discussion: """
                The format is btsnoop if the name ends with .btsnoop, .snoop, .log or .cfa, else pcapng. "sudo btmon \
                --write FILE" captures the packets of a real adapter.
                """, valueName: "FILE"),
        completion: .file(extensions: ["pcapng", "btsnoop"]))
    var capture: String?

    @Flag(help: "Print the log of the library, and each command to the backend and each event, to standard error.")
    var verbose = false

    func validate() throws {
        if let unknown = Self.unknownEnvironmentBackend, backend == nil {
            throw ValidationError("COREBLUETOOTH_BACKEND is \"\(unknown)\": use bluez, emulator or auto")
        }
        if world != nil, effectiveBackend == .bluez {
            throw ValidationError("--world needs emulated devices: add --backend emulator or --backend auto")
        }
        if let preset, !Self.presets.contains(preset) {
            throw ValidationError("there is no preset \"\(preset)\": use \(Self.presets.joined(separator: ", "))")
        }
    }

    /// Whether a seed or a preset is chosen, which override those of a world file.
    var changesEmulator: Bool { seed != nil || preset != nil }

    #if Emulator
    /// The names of all presets.
    static let presets = EmulatorPreset.allCases.map(\.rawValue)
    #else
    /// The names of all presets; a build without the emulator has none.
    static let presets: [String] = []
    #endif

    /// Refuses the options that describe devices or capture their packets, for a command without devices.
    ///
    /// `--backend` and `--adapter` are valid for every command, as the environment may choose both for all.
    func refuseDeviceOptions() throws {
        if let mistake = deviceOptionMistake { throw ValidationError(mistake) }
    }

    /// The mistake of such options; nil without any.
    var deviceOptionMistake: String? {
        let given: KeyValuePairs = [
            "--world": world != nil, "--seed": seed != nil, "--preset": preset != nil, "--capture": capture != nil,
        ]
        let unused = given.filter(\.value).map(\.key)
        return unused.isEmpty ? nil : "the command uses no devices: omit \(unused.joined(separator: " and "))"
    }

    var effectiveBackend: BackendChoice { backend ?? Self.environmentBackend ?? .bluez }

    /// The selected world file; an empty variable selects none.
    var effectiveWorld: String? { world ?? Self.variable("COREBLUETOOTH_WORLD") }

    /// The chosen adapter; nil takes the first.
    var effectiveAdapter: String? { adapter ?? Self.variable("COREBLUETOOTH_ADAPTER") }

    /// Whether both select the same adapter, real or emulated, in the same world.
    func choosesSameBackend(as other: GlobalOptions) -> Bool {
        (effectiveBackend, effectiveAdapter, effectiveWorld, seed, preset)
            == (other.effectiveBackend, other.effectiveAdapter, other.effectiveWorld, other.seed, other.preset)
    }

    private static var environmentBackend: BackendChoice? {
        variable("COREBLUETOOTH_BACKEND").flatMap(BackendChoice.init(rawValue:))
    }

    private static var unknownEnvironmentBackend: String? {
        environmentBackend == nil ? variable("COREBLUETOOTH_BACKEND") : nil
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The values of `--backend` and of `COREBLUETOOTH_BACKEND`.
enum BackendChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Real adapters.
    case bluez
    /// Emulated devices.
    case emulator
    /// Real adapters if the machine has any, otherwise emulated devices.
    case auto
}

/// The argument DEVICE.
extension DeviceQuery: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    static let help = ArgumentHelp("The device: its identifier, address or name.", valueName: "DEVICE")
}

/// Runs a check of arguments and converts its failure to the form that the parser expects.
func usage<Value>(_ body: () throws(Failure) -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        throw ValidationError(error.description)
    }
}

/// The argument PROFILE: `heart-rate`.
extension StandardProfile: ExpressibleByArgument {
    /// Creates a profile from its name, in any letter case.
    public init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}

/// The argument for the UUID of a service.
extension BluetoothUUID: ExpressibleByArgument {
    /// Creates a UUID of 16, 32 or 128 bits.
    public init?(argument: String) { self.init(argument) }
}

/// The argument for a time in seconds: more than 0, at most a day.
struct Seconds: ExpressibleByArgument, Equatable, Sendable {
    let duration: Duration
    private let text: String

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds <= 86_400 else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
        text = argument
    }

    /// Creates whole seconds, 1...86400.
    init(_ seconds: Int) {
        duration = .seconds(seconds)
        text = "\(seconds)"
    }

    var defaultValueDescription: String { text }
}
