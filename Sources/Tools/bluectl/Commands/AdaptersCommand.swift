import ArgumentParser
import BluetoothBackend

#if Emulator
import BluetoothEmulator
#endif

struct AdaptersCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "adapters",
        abstract: "List the adapters with address, power, roles and name.",
        discussion: """
            Each line has the value for --adapter, the address, "on" or "off", the roles and the name, separated by \
            tabs. With --adapter, only that adapter is listed. The exit status is 1 if there is no adapter.
            """)

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    @MainActor
    func run() async throws {
        let console = global.openConsole()
        let all = try await global.adapters()
        let wanted = global.effectiveAdapter
        let adapters = all.filter { adapter in
            wanted.map { adapter.adapter == $0 || adapter.address?.lowercased() == $0.lowercased() } ?? true
        }
        guard !adapters.isEmpty else {
            let which = wanted.map { "there is no adapter \(PrintableText.of($0))" } ?? "there is no Bluetooth adapter"
            throw Failure(.failed, which + "; run \"bluectl doctor\" for details")
        }
        if adapters.contains(where: { $0.backend == "emulator" }) {
            console.warnEmulated("adapters")
        }
        for adapter in adapters { console.show(adapter.fields, [adapter.line]) }
    }
}

/// An adapter, for `bluectl adapters`.
struct AdapterRecord: Sendable {
    /// The value for `--adapter`: `hci0`, or the name of an emulated host.
    var adapter: String
    var address: String?
    /// The name that other devices see.
    var name: String?
    var isPowered: Bool?
    /// `central`, `peripheral`, `central-peripheral` (both at once).
    var roles: [String]?
    var backend: String

    var fields: JSONFields {
        [
            "adapter": adapter, "address": address, "name": name, "isPowered": isPowered, "roles": roles,
            "backend": backend,
        ]
    }

    /// Adapter, address, power, roles, name, separated by tabs; `-` for an unknown field.
    var line: String {
        let power = isPowered.map { $0 ? "on" : "off" }
        let roles = self.roles.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }
        return [adapter, address, power, roles, name].map { PrintableText.of($0 ?? "-") }.joined(separator: "\t")
    }
}

extension GlobalOptions {
    /// The adapters of the selected backend.
    ///
    /// - Throws: A failure if BlueZ cannot be queried, a usage failure for a world file with a mistake.
    fileprivate func adapters() async throws(Failure) -> [AdapterRecord] {
        switch effectiveBackend {
        case .bluez: return try await bluez()
        case .emulator: return try emulated()
        case .auto:
            let emulated = try emulated()
            do {
                let real = try await bluez()
                return real.isEmpty ? emulated : real
            } catch {
                return emulated
            }
        }
    }

    private func bluez() async throws(Failure) -> [AdapterRecord] {
        #if BlueZ && os(Linux)
        let facts = await SystemProbe(limit: timeout.duration).facts()
        if let reason = facts.bus.text { throw AdapterFailure.failure("\(facts.bus.busProblem) (\(reason))") }
        if let reason = facts.daemon?.text { throw Failure(.failed, "bluetoothd is not running: \(reason)") }
        if let reason = facts.objects?.text {
            throw Failure(.failed, "bluetoothd does not list its adapters: \(reason)")
        }
        return facts.adapters.map {
            AdapterRecord(
                adapter: $0.name, address: $0.address, name: $0.alias, isPowered: $0.isPowered, roles: $0.roles,
                backend: "bluez")
        }
        #else
        throw Failure(.failed, "this bluectl was built without BlueZ: use --backend emulator")
        #endif
    }

    private func emulated() throws(Failure) -> [AdapterRecord] {
        #if Emulator
        return try BackendSelector.makeEmulator(self, world: effectiveWorld).hosts.map {
            AdapterRecord(
                adapter: $0.name, address: $0.address.description, isPowered: $0.state == .poweredOn,
                roles: ["central", "peripheral", "central-peripheral"], backend: "emulator")
        }
        #else
        throw Failure(.failed, "this bluectl was built without the emulator")
        #endif
    }
}
