import ArgumentParser
import BluetoothProfiles
import CoreBluetoothPackage

/// `bluectl serve`: a device of a file on the air.
struct ServeCommand: BackendCommand {
    typealias Role = PeripheralRole

    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Publish a device of a file, or of profiles, and print what centrals do with it.",
        discussion: """
            FILE has the format of --world, JSON or YAML. The device answers reads with its values, keeps what is \
            written, notifies by its timers and echoes; each request, write and subscription is a line. Goes on until \
            Ctrl-C, for --duration (which cuts a visit short), or with --visit --once to the end of the visit, and is \
            withdrawn then. What only an emulated device has, such as an address of \
            its own, is left to the radio. With --profile the device behaves as the profile's specification says, \
            with values that make sense.
            """)

    var endsByInterruption: Bool { true }

    @Argument(
        help: ArgumentHelp("The file that describes the device.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String?

    @Option(
        help: ArgumentHelp(
            "In place of a file, a profile; may be repeated. One of: "
                + ProfileArgument.allValueStrings.joined(separator: ", ") + ".", valueName: "PROFILE"))
    var profile: [ProfileArgument] = []

    @Option(help: ArgumentHelp("The name of a device of profiles.", valueName: "N"))
    var name: String?

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

    @Flag(help: "With --visit: end when the visit is over.")
    var once = false

    @Flag(
        help: """
            Pair unasked with every central that uses what the file calls encrypted, without a number (Just Works). \
            By default you are asked for each, with numbers where the central can, and the end of the input is a no.
            """)
    var acceptPairing = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        guard (file == nil) != profile.isEmpty else {
            throw ValidationError(
                file == nil ? "a FILE or a --profile is missing" : "take a FILE or --profile, not both")
        }
        if file == nil, device != nil { throw ValidationError("--device is for a FILE") }
        if file != nil, name != nil { throw ValidationError("--name is for --profile: a FILE has a name") }
        if once, !visit { throw ValidationError("--once is for --visit") }
        guard visit else { return }
        if global.effectiveBackend != .emulator {
            throw ValidationError("--visit is for the emulator: an adapter does not hear itself")
        }
        if global.effectiveAdapter != nil {
            throw ValidationError("--visit needs two emulated adapters: leave --adapter out")
        }
    }

    func perform(in role: PeripheralRole) async throws {
        if let file { try await serve(file, in: role) } else { try await serveProfiles(in: role) }
    }

    /// Plays a device of profiles.
    @MainActor
    private func serveProfiles(in role: PeripheralRole) async throws {
        let name = name ?? profile.first?.profile.deviceName ?? "bluectl"
        let printer = ServerEventPrinter(console: role.console, backend: role.emulatedBackend, name: name)
        let device = SimulatedDevice(name: name, servers: profile.map { $0.profile.makeServer() }) { event in
            DispatchQueue.main.async { MainActor.assumeIsolated { printer.show(event) } }
        }
        do {
            try await device.start(on: role.backend)
        } catch let error as SimulatedDeviceError {
            throw Failure(.failed, error.description)
        }
        defer { device.stop() }
        let services = device.servers.map(\.service)
        let visited = LoopbackClient.Device(
            name: name, advertisedServices: services, services: services,
            periodic: device.periodicCharacteristics, writesUnread: false)
        try await stay(visited, in: role)
    }

    /// Stays on the air until the user, the time or the end of the visit ends it.
    @MainActor
    private func stay(_ device: LoopbackClient.Device, in role: PeripheralRole) async throws {
        guard visit else { return try await role.wait(for: duration?.duration) }
        let client = LoopbackClient(of: device, host: role)
        let isVisited = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await client.visit()
                if !once { try await sleepUntilCancelled() }
                return true
            }
            group.addTask {
                try await role.wait(for: duration?.duration)
                return await client.isOver
            }
            defer { group.cancelAll() }
            return try await group.next() ?? true
        }
        if !isVisited { role.console.note("the visit is cut short: --duration is over") }
    }

    #if Emulator
    // The file comes first: a mistake is told before any radio is asked.
    func selection() throws(Failure) -> CBBackendSelection {
        if let file { _ = try WorldFileDevice(path: file, device: device) }
        return try BackendSelector.selection(global)
    }

    @MainActor
    private func serve(_ file: String, in role: PeripheralRole) async throws {
        let file = try WorldFileDevice(path: file, device: device)
        let ignored = file.ignoredFields
        if !ignored.isEmpty { role.console.note("left to the radio: \(ignored.joined(separator: ", "))") }
        let server = WorldFileServer(file.description, role: role)
        defer { server.stop() }
        let pairing = file.description.needsEncryption ? PairingPrompt.serving(role, saysYes: acceptPairing) : nil
        defer { pairing?.stop() }
        do {
            try await server.start()
        } catch let failure as Failure where failure.status == .usage {
            throw file.failure(at: "services[\(server.publishedCount)]", failure.description)
        }
        try await stay(server.visited, in: role)
    }
    #else
    @MainActor
    private func serve(_ file: String, in role: PeripheralRole) async throws {
        throw Failure(.failed, "this bluectl was built without the emulator, which reads the files")
    }
    #endif
}
