/// The devices of the filter accept list.
///
/// Source: Core Specification, Vol 6, Part B, 4.3.1.
struct AcceptList: Sendable {
    static let maximumCount = 16

    private(set) var devices: [HCIAddress] = []
    /// Whether advertisers without an address are in the list; the Link Layer hears none.
    private var includesAnonymous = false

    mutating func removeAll() { self = AcceptList() }

    /// - Parameter device: nil for advertisers without an address.
    mutating func add(_ device: HCIAddress?) throws(HCIStatus) {
        if device.map({ devices.contains($0) }) ?? includesAnonymous { return }
        guard devices.count + (includesAnonymous ? 1 : 0) < Self.maximumCount else { throw .memoryCapacityExceeded }
        if let device { devices.append(device) } else { includesAnonymous = true }
    }

    mutating func remove(_ device: HCIAddress?) throws(HCIStatus) {
        guard let device else {
            guard includesAnonymous else { throw .invalidCommandParameters }
            includesAnonymous = false
            return
        }
        guard let index = devices.firstIndex(of: device) else { throw .invalidCommandParameters }
        devices.remove(at: index)
    }
}

/// Source: Core Specification, Vol 4, Part E, 7.8.15 to 7.8.17.
extension Controller {
    mutating func addToAcceptList(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let device = try cursor.takeAcceptedDevice()
        try changeAcceptList { list throws(HCIStatus) in try list.add(device) }
    }

    mutating func removeFromAcceptList(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let device = try cursor.takeAcceptedDevice()
        try changeAcceptList { list throws(HCIStatus) in try list.remove(device) }
    }

    /// Changes the list, unless a procedure uses it.
    mutating func changeAcceptList(
        _ change: (inout AcceptList) throws(HCIStatus) -> Void
    ) throws(HCIStatus) {
        let isUsed =
            state.scan.isEnabled && state.scan.usesAcceptList || state.initiator?.usesAcceptList == true
            || state.advertising.values.contains { $0.isEnabled && $0.usesAcceptList }
        guard !isUsed else { throw .commandDisallowed }
        try change(&state.acceptList)
    }
}

extension ByteCursor {
    /// Reads a device of the accept list; nil for advertisers without an address.
    fileprivate mutating func takeAcceptedDevice() throws(HCIStatus) -> HCIAddress? {
        let type = try take(UInt8.self)
        guard type <= 1 || type == 0xFF else { throw .invalidCommandParameters }
        let address = try takeAddress(isRandom: type == 1)
        return type == 0xFF ? nil : address
    }
}
