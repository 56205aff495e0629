#if Emulator && BlueZ && os(Linux)
import ArgumentParser
import BluetoothEmulator
import EmulatedBlueZ
import EmulatedHCI

struct WorldServeCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Show emulated devices to the programs on a message bus, until Ctrl-C.",
        discussion: """
            Prints two lines: the command that exports the address of the bus, for the shells of the programs, and, \
            when programs may start, one that begins with "# ready". A shell may evaluate both.

            Without --bus, the bus is a private one, which ends with the command. "--bus system" uses the system bus, \
            whose policy must allow it, and on which bluetoothd must not run. The command ends with status 1 if the \
            bus is lost.

            While it runs, "bluectl world show", "world move" and the other commands show and change the devices. With \
            --view, a third line contains an address on this machine for a browser. The address contains a token: \
            anyone who knows it can control the devices.
            """)

    @OptionGroup
    var world: WorldOptions

    @Option(
        help: ArgumentHelp(
            "The address of a bus, or system.", discussion: "Default: a private bus.", valueName: "ADDRESS"))
    var bus: String?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        try world.shared.validate(global)
        if bus?.isEmpty == true { throw ValidationError("the ADDRESS of --bus is empty") }
        if global.timestamps, !global.json {
            throw ValidationError("a line for a shell has no time: omit --timestamps, or add --json")
        }
    }

    @MainActor
    func run() async throws {
        let console = global.openConsole()
        let emulator = try world.shared.emulator(global)
        try BackendSelector.beginCapture(global)
        let served = try await ServedWorld(
            emulator, on: selectedBus, world.configuration, limit: global.timeout.duration)
        // If the bus is lost, its directory still exists.
        defer { served.stop() }
        let ports = try world.shared.openPorts(emulator)
        defer { for port in ports { port.port.close() } }
        let signals = Signals { _ in served.service.stop() }
        defer { withExtendedLifetime(signals) {} }
        console.onClosedOutput = { served.service.stop() }
        let watch = Task { try await console.watchOutput() }
        defer { watch.cancel() }
        let control = await WorldControl(
            emulator, file: world.shared.file ?? global.effectiveWorld, browserPort: world.shared.browserPort,
            console: console)
        show(served, ports, at: control.world?.address, on: console)
        let end: EmulatedBlueZError?
        do throws(EmulatedBlueZError) {
            try await served.service.waitUntilEnd()
            end = nil
        } catch {
            end = error
        }
        await control.end()
        if let end { throw Failure(.failed, end.description) }
    }

    private var selectedBus: ServedWorld.Bus {
        switch bus {
        case nil: .ownBus
        case "system": .system
        case .some(let address): .address(address)
        }
    }

    @MainActor
    private func show(_ served: ServedWorld, _ ports: [ExternalHostPort], at address: String?, on console: Console) {
        let adapters = served.adapters
        let devices = served.emulator.devices.map(\.name)
        let list = adapters.map { "\($0.name) (\(PrintableText.of($0.host)))" }.joined(separator: ", ")
        let fields: JSONFields = [
            "event": "ready", "address": served.address, "dialect": world.dialect.rawValue,
            "adapters": adapters.map(\.name), "devices": devices, "view": address,
            "hci": ports.isEmpty ? nil : ports.map { ["host": $0.name, "address": $0.place] },
        ]
        console.show(
            fields,
            [
                "export DBUS_SYSTEM_BUS_ADDRESS=\(ShellText.quoted(served.address))",
                "# ready: org.bluez \(world.dialect.rawValue) with \(list) and "
                    + "\(devices.count) \(devices.count == 1 ? "device" : "devices")",
            ] + ports.map { "# hci: host \(PrintableText.of($0.name)) attaches at \($0.place)" }
                + (address.map { ["# view: \($0)"] } ?? [])
                + ["export \(world.versionForQt.name)=\(world.versionForQt.value)"])
    }
}

/// Text for `sh`.
enum ShellText {
    /// Returns a word in quotes, which stays one word whatever it contains.
    static func quoted(_ word: String) -> String { "'" + word.replacing("'", with: #"'\''"#) + "'" }
}
#endif
