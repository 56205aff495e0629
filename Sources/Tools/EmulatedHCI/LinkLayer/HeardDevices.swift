import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI

/// The devices that a host has heard, by their addresses on the air, and the reports of its scan.
struct HeardDevices: Sendable {
    var scan: LinkLayerCommand.ScanSettings?
    /// The devices of the world, by their numbers.
    var devices: [UInt32: TappedDevice] = [:]
    /// The devices by their addresses, those heard last.
    private var peers = LRUCache<HCIAddress, PeerID>(limit: 4_096)

    func peer(_ address: HCIAddress) -> PeerID? { peers[address] }

    mutating func add(_ peer: PeerID, at address: HCIAddress) { peers.insert(peer, for: address) }

    /// Returns the report of a packet; nil if the host does not scan for it.
    func report(_ packet: TappedAdvertisingPacket) -> AdvertisingReport? {
        guard let scan, !packet.isScanResponse || scan.isActive, !packet.isExtended || scan.includesExtended else {
            return nil
        }
        return AdvertisingReport(packet, of: devices[packet.device])
    }
}
