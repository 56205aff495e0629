import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI

/// The devices that a host has heard, by their addresses on the air, and the reports of its scan.
struct HeardDevices: Sendable {
    /// The maximum number of addresses; a further one replaces the one heard first.
    static let limit = 4_096

    var scan: LinkLayerCommand.ScanSettings?
    /// The devices of the world, by their numbers.
    var devices: [UInt32: TappedDevice] = [:]
    private var peers: [HCIAddress: PeerID] = [:]
    private var order: [HCIAddress] = []

    func peer(_ address: HCIAddress) -> PeerID? { peers[address] }

    mutating func add(_ peer: PeerID, at address: HCIAddress) {
        guard peers.updateValue(peer, forKey: address) == nil else { return }
        order.append(address)
        if order.count > Self.limit { peers[order.removeFirst()] = nil }
    }

    /// Returns the report of a packet; nil if the host does not scan for it.
    func report(_ packet: TappedAdvertisingPacket) -> AdvertisingReport? {
        guard let scan, !packet.isScanResponse || scan.isActive, !packet.isExtended || scan.includesExtended else {
            return nil
        }
        let sets = devices[packet.device]?.advertising ?? []
        let isScannable = packet.set < sets.count && sets[packet.set].description.scanResponse != nil
        return AdvertisingReport(
            address: HCIAddress(packet.address),
            data: packet.data.structures(withFlags: packet.isConnectable && !packet.isScanResponse),
            rssi: Int8(clamping: packet.rssi), isConnectable: packet.isConnectable, isScannable: isScannable,
            isScanResponse: packet.isScanResponse)
    }
}
