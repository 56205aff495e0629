import ArgumentParser
import AsyncBluetooth
import BluetoothBackend
import BluetoothSupport
import CoreBluetoothClasses

#if Emulator
import BluetoothEmulator
#endif

struct DevicesCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that are paired or connected.",
        discussion: """
            Each line has the identifier, the address, "paired" or "-", "connected" or "-", and the name, separated \
            by tabs. The devices need not be in range, and may have been connected by other programs.
            """)

    @Flag(help: "List only paired devices.")
    var paired = false

    @Flag(help: "List only connected devices.")
    var connected = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let devices = try await role.knownDevices().filter { device in
            (device.isPaired || !paired) && (device.isConnected || !connected)
        }
        for device in devices { role.console.show(device.fields(backend: role.backendName), [device.line]) }
        guard devices.isEmpty else { return }
        let states = paired == connected ? "paired \(paired ? "and" : "or") connected" : paired ? "paired" : "connected"
        role.console.warn("no device is \(states)")
    }
}

struct KnownDevice: Equatable, Sendable {
    var device: DeviceRecord
    var isPaired: Bool
    var isConnected: Bool

    func fields(backend: String) -> JSONFields {
        device.identity.merging(["isPaired": isPaired, "isConnected": isConnected, "backend": backend])
    }

    /// Identifier, address, paired, connected, name, separated by tabs; `-` for a field that is false or unknown.
    var line: String {
        [
            device.identifier.uuidString, device.address ?? "-", isPaired ? "paired" : "-",
            isConnected ? "connected" : "-", device.name ?? "-",
        ].map(PrintableText.of).joined(separator: "\t")
    }
}

extension CentralRole {
    /// Returns the devices that are paired or connected, by address.
    ///
    /// - Throws: A failure if the daemon does not list them.
    func knownDevices() async throws -> [KnownDevice] {
        #if Emulator
        if backendName == "emulator" { return try await emulatedDevices() }
        #endif
        #if BlueZ && os(Linux)
        let facts = await SystemProbe(limit: limit).facts()
        if let reason = facts.objects?.text {
            throw Failure(.failed, "bluetoothd does not list its devices: \(reason)")
        }
        // Devices of other adapters are omitted.
        let own = Set(try await known(facts.devices.map(\.device.identifier)).map(\.identifier))
        return facts.devices.filter { own.contains($0.device.identifier) && ($0.isPaired || $0.isConnected) }
        #else
        return []
        #endif
    }

    #if Emulator
    /// Returns the bonds of the emulated host, and its links.
    private func emulatedDevices() async throws -> [KnownDevice] {
        guard let emulator = BackendSelector.current.withLock({ $0 }) else { return [] }
        let adapter = ProcessInfo.processInfo.environment["COREBLUETOOTH_ADAPTER"] ?? ""
        let host = emulator.hosts.first { $0.name == adapter || $0.address.description == adapter } ?? emulator.host
        let bonded = Set(
            emulator.devices.filter { host.isBonded(with: $0) }.compactMap { $0.identifier(onHost: host.name)?.uuid })
        let connected = try await connected()
        let others = try await known(
            bonded.filter { id in !connected.contains { $0.identifier == id } }
                .sorted { $0.uuidString < $1.uuidString })
        return (connected + others).map { peripheral in
            KnownDevice(
                device: DeviceRecord(peripheral), isPaired: bonded.contains(peripheral.identifier),
                isConnected: peripheral.state == .connected || connected.contains(peripheral))
        }
    }
    #endif
}
