#if Emulator
import BluetoothEmulator
import CoreBluetoothPackage

/// Listens for the channels of a device that is served, and keeps those that centrals open.
@MainActor
final class ChannelServer {
    private let role: PeripheralRole
    private let listing: ServerEventPrinter
    private var descriptions: [CBL2CAPPSM: ChannelDescription] = [:]
    private var open: [ServedChannel] = []

    init(role: PeripheralRole, listing: ServerEventPrinter) {
        self.role = role
        self.listing = listing
    }

    /// Listens for a channel; the system chooses its number.
    func publish(_ description: ChannelDescription) async throws {
        let psm = try await role.publishChannel(withEncryption: description.isEncryptionRequired)
        descriptions[psm] = description
        listing.listening(psm)
    }

    /// A central opened a channel.
    func opened(_ channel: CBL2CAPChannel) {
        listing.channel("channel open", channel, bytes: nil)
        open.append(
            ServedChannel(channel, isEcho: descriptions[channel.psm]?.echo ?? false) { [weak self] ended in
                self?.open.removeAll { $0 === ended }
                self?.listing.channel("channel end", ended.channel, bytes: ended.received)
            })
    }

    /// Closes all of them.
    func stop() {
        for channel in open { channel.close() }
        open = []
    }
}
#endif
