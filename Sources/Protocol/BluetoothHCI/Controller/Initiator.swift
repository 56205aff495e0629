/// The connection that the host is creating.
struct Initiator: Sendable {
    /// The number of private addresses that are kept.
    private static let maximumFound = AcceptList.maximumCount

    /// The devices as the host named them.
    let devices: [HCIAddress]
    let usesAcceptList: Bool
    let settings: LinkLayerCommand.ConnectionSettings
    /// The devices that the Link Layer knows by the same addresses.
    let knownTargets: [HCIAddress]
    /// Whether a device has a private address that must be heard first.
    let isSearching: Bool
    var isCancelling = false
    /// The private addresses of devices, as heard.
    private var found: [HCIAddress] = []

    init(
        devices: [HCIAddress], usesAcceptList: Bool, settings: LinkLayerCommand.ConnectionSettings, list: ResolvingList
    ) {
        (self.devices, self.usesAcceptList, self.settings) = (devices, usesAcceptList, settings)
        knownTargets = devices.filter { !list.ignores($0) }
        isSearching = devices.contains { list.resolves($0) }
    }

    /// The addresses to which the Link Layer connects.
    var targets: [HCIAddress] { knownTargets + found }

    /// Adds a private address of a device.
    ///
    /// - Returns: Whether it is a new one.
    mutating func add(_ address: HCIAddress) -> Bool {
        guard !found.contains(address) else { return false }
        if found.count >= Self.maximumFound { found.removeFirst() }
        found.append(address)
        return true
    }
}
