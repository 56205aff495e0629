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

    /// Returns the reports of a packet; none if the host does not scan for it.
    ///
    /// Each connectable legacy packet is followed by a scan response, which is empty if the device has none: hosts wait
    /// for it.
    ///
    /// Source: Core Specification, Vol 6, Part B, 2.3.1.1 and 4.4.3.2.
    func reports(_ packet: TappedAdvertisingPacket) -> [AdvertisingReport] {
        guard let scan, !packet.isScanResponse || scan.isActive, !packet.isExtended || scan.includesExtended else {
            return []
        }
        let device = devices[packet.device]
        let report = AdvertisingReport(packet, of: device)
        let isAnswered = device?.scanResponse(to: packet) != nil
        guard scan.isActive, !packet.isScanResponse, packet.isConnectable, !packet.isExtended, !isAnswered else {
            return [report]
        }
        var response = report
        (response.data, response.isScanResponse) = ([], true)
        return [report, response]
    }
}
