#if Emulator && BlueZ && os(Linux)
import ArgumentParser
import BlueZ
import BluetoothEmulator
import BluetoothSupport
import EmulatedHCI
import Foundation

struct WorldDongleCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "dongle",
        abstract: "Plug emulated devices into this machine's kernel, as a Bluetooth adapter, until Ctrl-C.",
        discussion: """
            Each host of FILE is an adapter of this machine. All programs that use Bluetooth here find the devices, through \
            the kernel and its bluetoothd. The command needs root, and modules of the kernel: vhci-hcd and btusb for a USB \
            dongle, or hci_vhci; it names what is missing.

            Prints a line that begins with "# ready" when the adapters exist. While it runs, "bluectl world show", "world \
            plug" and the other commands show and change the world, as root. With --view, a line contains an address on \
            this machine for a browser. The address contains a token: anyone who knows it can control the devices.
            """)

    @OptionGroup
    var shared: SharedWorldOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The kind of adapter: usb, a USB dongle, or vhci, a controller without a bus.",
            discussion: "Default: usb if the kernel has vhci_hcd, else vhci.", valueName: "KIND"))
    var kind: KernelAdapterKind?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { try shared.validate(global) }

    @MainActor
    func run() async throws {
        let console = global.openConsole()
        let address = try kind?.address ?? Self.presentKind()
        let emulator = try shared.emulator(global)
        try BackendSelector.beginCapture(global)
        let others = Set(shared.externalHosts.map(\.name))
        let hosts = emulator.hosts.filter { $0.hci == nil && !others.contains($0.name) }
        guard !hosts.isEmpty else { throw Failure(.usage, "each host of the world has another port: none is left") }
        let adapters = try hosts.map { host in
            KernelAdapter(host: host, port: try HCIPort.open(emulator, host: host.name, on: address))
        }
        defer { for adapter in adapters { adapter.port.close() } }
        let ports = try shared.openPorts(emulator)
        defer { for port in ports { port.port.close() } }
        let (ended, end) = AsyncStream<Void>.makeStream()
        let naming = Task { try await Self.names(of: adapters, within: global.timeout.duration) }
        let stop = {
            naming.cancel()
            end.finish()
        }
        let signals = Signals { _ in stop() }
        defer { withExtendedLifetime(signals) {} }
        console.onClosedOutput = stop
        let watch = Task { try await console.watchOutput() }
        defer { watch.cancel() }
        let names: [String]
        do { names = try await naming.value } catch is CancellationError { return }
        let control = await WorldControl(
            emulator, file: shared.file ?? global.effectiveWorld, browserPort: shared.browserPort, console: console)
        show(Array(zip(adapters, names)), emulator, ports, at: control.world?.address, on: console)
        for await _ in ended {}
        await control.end()
    }

    private static func names(of adapters: [KernelAdapter], within limit: Duration) async throws -> [String] {
        var names: [String] = []
        for adapter in adapters { names.append(try await adapter.name(within: limit)) }
        return names
    }

    /// The kind of which the kernel has the driver.
    private static func presentKind() throws(Failure) -> HCIPortAddress {
        guard let address = HCIPortAddress.kernelDevice else {
            throw Failure(
                .failed,
                "this kernel has neither a virtual USB host controller nor /dev/vhci; as root: "
                    + "modprobe -a vhci-hcd btusb, or modprobe hci_vhci")
        }
        return address
    }

    @MainActor
    private func show(
        _ adapters: [(adapter: KernelAdapter, name: String)], _ emulator: Emulator, _ ports: [ExternalHostPort],
        at address: String?, on console: Console
    ) {
        let devices = emulator.devices.map(\.name)
        let list = adapters.map { adapter, name in
            let place = KernelAdapter.usbDevice(of: name).map { "USB device \($0)" } ?? adapter.port.place
            return "\(name) (\(PrintableText.of(adapter.host.name)), \(place))"
        }
        let fields: JSONFields = [
            "event": "ready",
            "adapters": adapters.map { adapter, name -> JSONFields in
                [
                    "adapter": name, "host": adapter.host.name, "address": adapter.host.address.description,
                    "kind": adapter.port.address.description, "usb": KernelAdapter.usbDevice(of: name),
                ]
            },
            "devices": devices, "view": address,
            "hci": ports.isEmpty ? nil : ports.map { ["host": $0.name, "address": $0.place] },
        ]
        console.show(
            fields,
            [
                "# ready: \(list.joined(separator: ", ")) with "
                    + "\(devices.count) \(devices.count == 1 ? "device" : "devices")"
            ] + ports.map { "# hci: host \(PrintableText.of($0.name)) attaches at \($0.place)" }
                + (address.map { ["# view: \($0)"] } ?? []))
    }
}

/// The values of `--as`.
enum KernelAdapterKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case usb, vhci

    var address: HCIPortAddress { self == .usb ? .usb : .vhci }
}

/// A host of a world as an adapter of this machine's kernel.
struct KernelAdapter: Sendable {
    let host: EmulatedHost
    let port: HCIPort

    /// Returns the kernel's name of the adapter, once the kernel has set it up.
    func name(within limit: Duration) async throws -> String {
        let address = withUnsafeBytes(of: host.address.bits.bigEndian) { Array($0.suffix(6)) }
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            // The kernel reports new controllers on sockets for root alone; this list is for everyone.
            if let name = KernelControllers.publicAddresses()?.first(where: { $0.value == address })?.key {
                return name
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failure.timedOut(limit, "waiting for the kernel to set up the adapter; dmesg has the reason")
    }

    /// Returns the USB device of an adapter, such as `1-1`; nil if it has none.
    static func usbDevice(of name: String, in folder: String = "/sys/class/bluetooth") -> String? {
        // …/usb1/1-1/1-1:1.0/bluetooth/hci0
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
            let interface = path.split(separator: "/").dropLast(2).last, let end = interface.firstIndex(of: ":")
        else { return nil }
        return String(interface[..<end])
    }
}
#endif
