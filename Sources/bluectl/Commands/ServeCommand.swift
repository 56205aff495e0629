import ArgumentParser
import CoreBluetoothPackage

/// `bluectl serve`: a device of a file on the air.
struct ServeCommand: RadioCommand {
    typealias Role = PeripheralSession

    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Publish a device that a file describes, and print what centrals do with it.",
        discussion: """
            FILE has the format of --world, JSON or YAML. The device answers reads with its values, keeps what is \
            written, notifies by its timers and echoes; each request, write and subscription is a line. Goes on until \
            Ctrl-C, or for --duration, and is withdrawn then. What only an emulated device has, such as an address of \
            its own, is left to the radio.
            """)

    static let endsByInterruption = true

    @Argument(
        help: ArgumentHelp("The file that describes the device.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String

    @Option(help: ArgumentHelp("The device, by name, where the file has several.", valueName: "N"))
    var device: String?

    @Option(help: ArgumentHelp("Ends by itself after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(
        help: """
            On the emulator, where no other program can come: a central of this process finds the device, subscribes, \
            reads and writes back what it read, once.
            """)
    var visit = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        guard visit else { return }
        if global.effectiveBackend != .emulator {
            throw ValidationError("--visit is for the emulator: an adapter does not hear itself")
        }
        if global.effectiveAdapter != nil {
            throw ValidationError("--visit needs two emulated adapters: leave --adapter out")
        }
    }

    #if Emulator
    // The file comes first: a mistake is told before any radio is asked.
    func selection() throws(Failure) -> CBBackendSelection {
        _ = try ServedFile(path: file, device: device)
        return try RadioSelection.selection(global)
    }

    func perform(in session: PeripheralSession) async throws {
        let file = try ServedFile(path: file, device: device)
        let ignored = file.ignoredFields
        if !ignored.isEmpty { session.console.note("left to the radio: \(ignored.joined(separator: ", "))") }
        let device = ServedDevice(file.description)
        let server = Server(device, session: session)
        defer { server.stop() }
        do {
            try await server.start()
        } catch let failure as Failure where failure.status == .usage {
            throw file.failure(at: "services[\(server.publishedCount)]", failure.description)
        }
        if visit { try await Visitor(of: device, host: session).visit() }
        try await session.wait(for: duration?.duration)
    }
    #else
    func perform(in session: PeripheralSession) async throws {
        throw Failure(.failed, "this bluectl was built without the emulator, which reads the files")
    }
    #endif
}
