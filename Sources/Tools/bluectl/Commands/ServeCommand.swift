import ArgumentParser
import BluetoothProfiles
import CoreBluetoothClasses

struct ServeCommand: BackendCommand {
    typealias Role = PeripheralRole

    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a device from a file or from profiles, and print the requests of centrals.",
        discussion: """
            FILE has the format of --world, in JSON or YAML. The device returns its values, stores what is written, \
            and notifies by its timers and echoes; each request and each subscription is printed as a line. The \
            device is served until Ctrl-C, for --duration (which cuts a visit short), or with --visit --once until \
            the end of the visit. Fields that only an emulated device can have, such as an address, are ignored. \
            With --profile, the device behaves as the specification of the profile demands, with plausible values.
            """)

    var endsByInterruption: Bool { true }

    @Argument(
        help: ArgumentHelp("The file that describes the device.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String?

    @Option(help: ArgumentHelp("A profile to serve instead of a file; may be repeated.", valueName: "PROFILE"))
    var profile: [StandardProfile] = []

    @Option(help: ArgumentHelp("The name of a device with profiles.", valueName: "N"))
    var name: String?

    @Option(help: ArgumentHelp("The name of the device, if the file has several.", valueName: "N"))
    var device: String?

    @Option(help: ArgumentHelp("End after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(
        help: """
            For the emulator, which no other process can reach: a central in this process finds the device, subscribes, \
            reads, and writes the values back, once.
            """)
    var visit = false

    @Flag(help: "With --visit: end after the visit.")
    var once = false

    @Flag(
        help: """
            Accept pairing without asking (Just Works) from every central that uses encrypted attributes of the file. \
            By default you are asked about each central, with a number where it supports that; the end of the input \
            means no.
            """)
    var acceptPairing = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        guard (file == nil) != profile.isEmpty else {
            throw ValidationError(
                file == nil ? "a FILE or --profile is required" : "use either FILE or --profile")
        }
        if file == nil, device != nil { throw ValidationError("--device needs a FILE") }
        if file != nil, name != nil { throw ValidationError("--name needs --profile: the device of a FILE has a name") }
        if once, !visit { throw ValidationError("--once needs --visit") }
        guard visit else { return }
        if global.effectiveBackend != .emulator {
            throw ValidationError(
                "--visit needs --backend emulator: an adapter does not receive its own advertisements")
        }
        if global.effectiveAdapter != nil {
            throw ValidationError("--visit uses two emulated adapters: omit --adapter")
        }
    }

    func perform(in role: PeripheralRole) async throws {
        if let file { try await serve(file, in: role) } else { try await serveProfiles(in: role) }
    }

    @MainActor
    private func serveProfiles(in role: PeripheralRole) async throws {
        let name = name ?? profile.first?.deviceName ?? "bluectl"
        let printer = ServerEventPrinter(console: role.console, name: name)
        let device = SimulatedDevice(name: name, servers: profile.map { $0.makeServer() }) { event in
            DispatchQueue.main.async { MainActor.assumeIsolated { printer.show(event) } }
        }
        try await device.start(on: role.backend)
        defer { device.stop() }
        let services = device.servers.map(\.service)
        let visited = LoopbackClient.Device(
            name: name, advertisedServices: services, services: services,
            periodic: device.periodicCharacteristics, writesUnread: false)
        try await stay(visited, in: role)
    }

    /// Serves until the user, the duration or the end of the visit ends it.
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
        if !isVisited { role.console.warn("the visit was cut short: --duration has passed") }
    }

    #if Emulator
    // The file is read first, so that a mistake in it is reported before a backend is used.
    func selection() throws(Failure) -> CBBackendSelection {
        if let file { _ = try WorldFileDevice(path: file, device: device) }
        return try BackendSelector.selection(global)
    }

    @MainActor
    private func serve(_ file: String, in role: PeripheralRole) async throws {
        let file = try WorldFileDevice(path: file, device: device)
        let ignored = file.ignoredFields
        if !ignored.isEmpty {
            role.console.warn("ignored, since the adapter decides them: \(ignored.joined(separator: ", "))")
        }
        if !file.ignoredParts.isEmpty {
            let parts = file.ignoredParts.joined(separator: ", ")
            role.console.warn("ignored, since only an emulated world has them: \(parts)")
        }
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
