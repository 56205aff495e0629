#if Emulator
import ArgumentParser
import BluetoothBackend
import BluetoothEmulator
import BluetoothRecording
import Foundation

struct RecordCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Turn a real device or a capture into an emulated device.",
        usage: """
            bluectl record DEVICE [--for SECONDS] [--subscribe all|none|UUID…] [--to FILE] [--keep-identity]
            bluectl record --from FILE [DEVICE] [--to FILE] [--keep-identity]
            """,
        discussion: """
            Connects, reads all readable values, subscribes, listens, and writes a world file with the device: its \
            services, its values, regular notifications as timers, errors as permissions and faults. If FILE ends \
            with .jsonl, writes a recording instead, with all times, causes and errors, which the field "recording" \
            of a world file plays. Without --to, the world file is printed. With --from, the world file contains the \
            devices of a capture (pcapng, btsnoop as of Android, or .pklg of Apple's PacketLogger) or of a recording.

            The address, the serial number and the System ID are replaced, wherever they occur, unless \
            --keep-identity is given; the name is kept. Keys are never recorded. Record only your own devices.
            """)

    /// The selection of characteristics to subscribe to.
    enum Subscriptions: Equatable, Sendable {
        case all
        case none
        case only([BluetoothUUID])
    }

    @Argument(help: ArgumentHelp("The device: its identifier, address or name.", valueName: "DEVICE"))
    var device: DeviceQuery?

    @Option(name: .customLong("for"), help: ArgumentHelp("The time to listen to notifications.", valueName: "SECONDS"))
    var time = Seconds(10)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "The characteristics to subscribe to: all, none, or their UUIDs.", discussion: "Default: all.",
            valueName: "UUID"))
    var subscribe: [String] = []

    @Option(
        help: ArgumentHelp(
            "The file to write: a world file, or a recording if the name ends with .jsonl.", valueName: "FILE"),
        completion: .file(extensions: ["json", "jsonl"]))
    var to: String?

    @Option(
        help: ArgumentHelp("A capture or a recording to read instead of a device.", valueName: "FILE"),
        completion: .file(extensions: ["pcapng", "btsnoop", "pcap", "log", "pklg", "jsonl"]))
    var from: String?

    @Flag(help: "Record the address, the serial number and the System ID as they are.")
    var keepIdentity = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    var endsByInterruption: Bool { true }

    func validate() throws {
        if from == nil, device == nil { throw ValidationError("name a device, or a file with --from") }
        if from != nil {
            if !subscribe.isEmpty { throw ValidationError("a file is only read: omit --subscribe") }
            try global.refuseDeviceOptions()
        }
        if global.timestamps { throw ValidationError("a file has no time stamps: omit --timestamps") }
        if let to, [".yaml", ".yml"].contains(where: to.lowercased().hasSuffix) {
            throw ValidationError("a world file is written in JSON: choose a name that ends with .json")
        }
        _ = try usage { () throws(Failure) in try subscriptions }
    }

    var subscriptions: Subscriptions {
        get throws(Failure) {
            switch subscribe {
            case [], ["all"]: return .all
            case ["none"]: return .none
            default:
                var uuids: [BluetoothUUID] = []
                for text in subscribe {
                    guard let uuid = BluetoothUUID(text) else {
                        throw Failure(.usage, "--subscribe: \"\(PrintableText.of(text))\" is no UUID, nor all or none")
                    }
                    uuids.append(uuid)
                }
                return .only(uuids)
            }
        }
    }

    @MainActor
    func run() async throws {
        guard let from else { return try await runOnBackend() }
        let console = Console(global)
        let devices = try RecordedFile(path: from, keepsIdentity: keepIdentity, console: console).devices(device)
        try RecordingOutput(path: to, console: console).write(devices)
    }

    func perform(in role: CentralRole) async throws {
        guard let device else { return }
        let output = RecordingOutput(path: to, console: role.console)
        try await LiveRecording(
            role, output, subscriptions: try subscriptions, time: time.duration, keepsIdentity: keepIdentity
        ).record(device)
    }
}
#endif
