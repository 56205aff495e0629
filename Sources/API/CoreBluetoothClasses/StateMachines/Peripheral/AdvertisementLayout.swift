import BluetoothBackend
import BluetoothSupport
import FoundationEssentials

/// The places of a local name and of service UUIDs in the packets, by Apple's sizes (S122).
///
/// The advertisement has room for 28 bytes of both, the scan response for 10 more of the name; the two bytes of header
/// that each field has are not counted. UUIDs come first, in their order; those that do not fit go to the overflow
/// area. The name goes to the advertisement if it fits there, otherwise to the scan response; if it fits neither, it is
/// shortened to the larger room. Source: Apple, `startAdvertising(_:)`.
///
/// Data of a manufacturer and of services, which Apple's dictionary cannot contain, come first, headers counted.
struct AdvertisementLayout: Equatable, Sendable {
    enum Place: Equatable, Sendable {
        case advertisement
        case scanResponse
    }

    static let advertisementBytes = 28
    static let scanResponseBytes = 10

    /// The name as it is sent: whole, or shortened.
    private(set) var localName: String?
    private(set) var namePlace: Place?
    private(set) var serviceUUIDs: [BluetoothUUID] = []
    private(set) var overflowServiceUUIDs: [BluetoothUUID] = []
    /// A company identifier, least significant byte first, and the company's data.
    private(set) var manufacturerData: Data?
    private(set) var serviceData: [BluetoothUUID: Data]

    init(
        localName: String? = nil, serviceUUIDs: [BluetoothUUID] = [], manufacturerData: Data? = nil,
        serviceData: [BluetoothUUID: Data] = [:]
    ) {
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        var room = max(0, Self.advertisementBytes - Self.dataBytes(manufacturerData, serviceData))
        for uuid in serviceUUIDs {
            let bytes = Int(uuid.width.rawValue)
            if bytes <= room {
                room -= bytes
                self.serviceUUIDs.append(uuid)
            } else {
                overflowServiceUUIDs.append(uuid)
            }
        }
        guard let localName else { return }
        let length = localName.utf8.count
        namePlace = length <= room || room > Self.scanResponseBytes && length > room ? .advertisement : .scanResponse
        self.localName = localName.prefix(utf8Bytes: max(room, Self.scanResponseBytes))
    }

    /// Returns the number of bytes that such data take in an advertisement, headers included.
    static func dataBytes(_ manufacturerData: Data?, _ serviceData: [BluetoothUUID: Data]) -> Int {
        serviceData.reduce(manufacturerData.map { 2 + $0.count } ?? 0) { bytes, entry in
            bytes + 2 + Int(entry.key.width.rawValue) + entry.value.count
        }
    }

    /// The advertisement of the backend: connectable (S123), with only name and UUIDs of Apple's dictionary (S118).
    var advertisement: Advertisement {
        Advertisement(
            localName: localName, serviceUUIDs: serviceUUIDs.isEmpty ? nil : serviceUUIDs,
            overflowServiceUUIDs: overflowServiceUUIDs.isEmpty ? nil : overflowServiceUUIDs,
            serviceData: serviceData.isEmpty ? nil : serviceData, manufacturerData: manufacturerData,
            isConnectable: true)
    }
}
