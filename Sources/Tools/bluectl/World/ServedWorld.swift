#if Emulator && BlueZ && os(Linux)
import BluetoothDBus
import BluetoothEmulator
import EmulatedBlueZ

/// An emulated world on a message bus.
struct ServedWorld {
    /// The bus of a served world.
    enum Bus: Equatable, Sendable {
        /// A bus that exists as long as the world is served.
        case ownBus
        /// `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
        case system
        case address(String)
    }

    let emulator: Emulator
    let service: EmulatedBlueZ
    /// The address at which clients find the bus.
    let address: String
    /// The adapters that clients see, with the names of their hosts; a host that attaches later has none.
    let adapters: [(name: String, host: String)]
    private let bus: PrivateMessageBus?

    /// Starts the bus if necessary, and serves the world; when this returns, clients may start.
    ///
    /// - Parameter limit: The time limit of each question to the bus, if the name has another owner.
    init(
        _ emulator: Emulator, on bus: Bus, _ configuration: EmulatedBlueZConfiguration, limit: Duration
    ) async throws {
        self.bus = bus == .ownBus ? try PrivateMessageBus() : nil
        let address: DBusAddress =
            switch bus {
            case .system: .system
            case .address(let address): .explicit(address)
            case .ownBus: .explicit(self.bus?.address ?? "")
            }
        self.address = address.text ?? ""
        self.emulator = emulator
        adapters = emulator.hosts.filter { $0.hci == nil }.enumerated().map { ("hci\($0.offset)", $0.element.name) }
        do throws(EmulatedBlueZError) {
            service = try await EmulatedBlueZ.serve(
                emulator, on: bus == .system ? nil : address.text, configuration: configuration)
        } catch {
            throw await Self.failure(error, at: address, isSystem: bus == .system, limit)
        }
    }

    /// Ends the service, and the bus if it belongs to the world.
    func stop() {
        service.stop()
        bus?.stop()
    }

    private static func failure(
        _ error: EmulatedBlueZError, at address: DBusAddress, isSystem: Bool, _ limit: Duration
    ) async -> Failure {
        var text = error.description
        switch error {
        case .nameTaken:
            // Without an answer, only the owner is missing.
            let owner = await SystemProbe(limit: limit).owner(of: "org.bluez", at: address)
            text += owner.map { ": \($0)" } ?? ""
            if isSystem { text += "; end it first, bluetoothd with: systemctl mask --now bluetooth" }
        case .nameRefused:
            text += "; the policy file is on the page \"The emulator for every program\""
        default: break
        }
        return Failure(.failed, text)
    }
}
#endif
