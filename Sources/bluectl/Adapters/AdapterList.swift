import BluetoothBackend

#if Emulator
import BluetoothEmulator
#endif

/// The adapters of a radio.
struct AdapterList {
    /// How long one question to the bus may take.
    let limit: Duration

    /// The adapters that the options name.
    ///
    /// - Throws: A failure where BlueZ cannot be asked, a usage failure for a world file with a mistake.
    func adapters(_ options: GlobalOptions) async throws(Failure) -> [AdapterRecord] {
        switch options.effectiveBackend {
        case .bluez: return try await bluez()
        case .emulator: return try emulator(world: options.effectiveWorld)
        case .auto:
            let emulated = try emulator(world: options.effectiveWorld)
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
        let facts = await SystemProbe(limit: limit).facts()
        if let reason = facts.bus.text { throw Failure(.failed, "the system bus is not reachable: \(reason)") }
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

    private func emulator(world: String?) throws(Failure) -> [AdapterRecord] {
        #if Emulator
        let emulator = try world.map { path throws(Failure) in try WorldFile(path: path).emulator() } ?? .shared
        return emulator.hosts.map {
            AdapterRecord(
                adapter: $0.name, address: $0.address.description, isPowered: $0.state == .poweredOn,
                roles: ["central", "peripheral", "central-peripheral"], backend: "emulator")
        }
        #else
        throw Failure(.failed, "this bluectl was built without the emulator")
        #endif
    }
}
