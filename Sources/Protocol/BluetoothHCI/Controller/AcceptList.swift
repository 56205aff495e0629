/// The devices of the filter accept list.
///
/// Source: Core Specification, Vol 6, Part B, 4.3.1; Vol 4, Part E, 7.8.15 to 7.8.17.
struct AcceptList: Sendable {
    static let maximumCount = 16

    private(set) var devices: [HCIAddress] = []
    /// Whether advertisers without an address are in the list; the Link Layer hears none.
    private var includesAnonymous = false

    mutating func add(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let device = try Self.device(&cursor)
        if device.map({ devices.contains($0) }) ?? includesAnonymous { return }
        guard devices.count + (includesAnonymous ? 1 : 0) < Self.maximumCount else { throw .memoryCapacityExceeded }
        if let device { devices.append(device) } else { includesAnonymous = true }
    }

    mutating func remove(_ cursor: inout ByteCursor) throws(HCIStatus) {
        guard let device = try Self.device(&cursor) else {
            guard includesAnonymous else { throw .invalidCommandParameters }
            includesAnonymous = false
            return
        }
        guard let index = devices.firstIndex(of: device) else { throw .invalidCommandParameters }
        devices.remove(at: index)
    }

    /// Reads a device; nil for advertisers without an address.
    private static func device(_ cursor: inout ByteCursor) throws(HCIStatus) -> HCIAddress? {
        let type = try cursor.read(UInt8.self)
        guard type <= 1 || type == 0xFF else { throw .invalidCommandParameters }
        let address = try cursor.readAddress(isRandom: type == 1)
        return type == 0xFF ? nil : address
    }
}
