#if Emulator && BlueZ && os(Linux)
import ArgumentParser
import BluetoothEmulator
import BluetoothSupport
import EmulatedHCI

/// The options of the commands that let other programs use a world: its file, its hosts, and a browser.
struct SharedWorldOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "A file that describes the devices, in JSON or YAML.",
            discussion: "Default: COREBLUETOOTH_WORLD, else three built-in devices.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String?

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
                free port), unix:PATH, or pty; or usb or vhci, for this machine's own kernel (root). NAME is the name of \
                the host in the world: a new one, "external" if it is omitted. Can be repeated. A world file names the \
                ports of its own hosts with "hci".
                """, valueName: "[NAME=]ADDRESS"))
    var externalHosts: [ExternalHostOption] = []

    /// The port for a browser; nil for none.
    var browserPort: UInt16? { view ? port ?? 0 : nil }

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

    /// Opens the ports of the hosts outside of the emulator: those of the file, unless an option names another port, and
    /// those of the options.
    ///
    /// - Throws: An error that names the port.
    func openPorts(_ emulator: Emulator) throws(HCIPortError) -> [ExternalHostPort] {
        let named = Set(externalHosts.map(\.name))
        var wanted: [(name: String, address: HCIPortAddress)] = emulator.hosts.compactMap { host in
            named.contains(host.name) ? nil : host.hci.map { (host.name, $0) }
        }
        wanted += externalHosts.map { ($0.name, $0.address) }
        var ports: [ExternalHostPort] = []
        for (name, address) in wanted {
            ports.append(ExternalHostPort(name: name, port: try HCIPort.open(emulator, host: name, on: address)))
        }
        return ports
    }

    /// Creates the emulator with the devices of the file; its hosts request the MTU that bluetoothd requests and send
    /// as many advertisements at a time as Linux does.
    ///
    /// - Throws: A usage failure for a file with a mistake.
    func emulator(_ global: GlobalOptions) throws(Failure) -> Emulator {
        try BackendSelector.makeEmulator(global, world: file ?? global.effectiveWorld) { configuration in
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
        guard let address = HCIPortAddress(parts[parts.count - 1]) else { return nil }
        self.address = address
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
#endif
