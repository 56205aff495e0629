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

/// Creating connections.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.12, 7.8.13 and 7.8.66.
extension Controller {
    mutating func createConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try cursor.takeScanTiming(0x0004...0x4000)
        let usesAcceptList = try cursor.takeFlag()
        let peer = try cursor.takePeer()
        let ownAddressType = try cursor.take(in: UInt8(0)...3)
        let parameters = try cursor.takeConnectionParameters()
        try cursor.skipEventLengths()
        try initiate(
            to: usesAcceptList ? nil : peer, ownAddressType: ownAddressType, parameters: parameters)
    }

    mutating func extendedCreateConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let usesAcceptList = try cursor.takeFlag()
        let ownAddressType = try cursor.take(in: UInt8(0)...3)
        let peer = try cursor.takePeer()
        // A peer advertises on 1M or coded.
        let phys = try cursor.take(in: UInt8(1)...7)
        guard phys & 0b101 != 0, cursor.count == 16 * phys.nonzeroBitCount else { throw .invalidCommandParameters }
        try cursor.takeScanTiming(0x0004...0xFFFF)
        let parameters = try cursor.takeConnectionParameters()
        try cursor.skipEventLengths()
        for _ in 1..<phys.nonzeroBitCount {
            try cursor.takeScanTiming(0x0004...0xFFFF)
            _ = try cursor.takeConnectionParameters()
            try cursor.skipEventLengths()
        }
        try initiate(to: usesAcceptList ? nil : peer, ownAddressType: ownAddressType, parameters: parameters)
    }

    /// - Parameter peer: nil for the devices of the accept list.
    private mutating func initiate(
        to peer: HCIAddress?, ownAddressType: UInt8, parameters: HCIConnectionParameters
    ) throws(HCIStatus) {
        guard state.initiator == nil else { throw .commandDisallowed }
        guard state.links.count < Self.maximumLinks else { throw .connectionLimitExceeded }
        if let peer, state.links.values.contains(where: { $0.peer == peer }) { throw .connectionAlreadyExists }
        let address = try ownAddress(type: ownAddressType, random: state.randomAddress, peer: peer)
        let initiator = Initiator(
            devices: peer.map { [$0] } ?? state.acceptList.devices, usesAcceptList: peer == nil,
            settings: LinkLayerCommand.ConnectionSettings(address: address, parameters: parameters),
            list: state.resolvingList)
        state.initiator = initiator
        connectToTargets()
        updateScan()
    }

    private mutating func connectToTargets() {
        guard let initiator = state.initiator, !initiator.targets.isEmpty else { return }
        output.commands.append(.connect(initiator.targets, initiator.settings))
    }

    /// Connects to a device of the host at its private address.
    mutating func initiate(to device: HCIAddress, heardAs address: HCIAddress) {
        guard var initiator = state.initiator, !initiator.isCancelling, initiator.devices.contains(device),
            initiator.add(address)
        else { return }
        state.initiator = initiator
        connectToTargets()
    }

    mutating func cancelConnection() throws(HCIStatus) {
        guard let initiator = state.initiator, !initiator.isCancelling else { throw .commandDisallowed }
        state.initiator?.isCancelling = true
        if initiator.targets.isEmpty {
            // The Link Layer was not told to connect.
            endConnect(HCIStatus.unknownConnectionIdentifier.rawValue)
        } else {
            output.commands.append(.cancelConnect)
        }
    }

    /// Handles the end of a connect without a link.
    mutating func endConnect(_ status: UInt8) {
        guard let initiator = state.initiator else { return }
        state.initiator = nil
        let reason = status == 0 ? HCIStatus.connectionFailedToBeEstablished.rawValue : status
        sendFailedConnection(
            initiator.isCancelling ? HCIStatus.unknownConnectionIdentifier.rawValue : reason, isCentral: true,
            peer: initiator.usesAcceptList ? nil : initiator.devices.first)
        updateScan()
    }

    /// LE Connection Complete or LE Enhanced Connection Complete with an error.
    mutating func sendFailedConnection(_ status: UInt8, isCentral: Bool, peer: HCIAddress?) {
        let peer = peer ?? HCIAddress(bits: 0, isRandom: false)
        let end = [status, 0, 0, isCentral ? 0 : 1, peer.type()] + peer.bytes
        let zeros = { [UInt8](repeating: 0, count: $0) }
        // No private addresses; no interval, latency, timeout and accuracy.
        if state.eventMask.allows(.enhancedConnectionComplete) {
            send(.enhancedConnectionComplete, end + zeros(12 + 7))
        } else {
            send(.connectionComplete, end + zeros(7))
        }
    }
}

extension ResolvingList {
    /// Whether the device may have a private address.
    fileprivate func resolves(_ device: HCIAddress) -> Bool {
        isEnabled && entries.contains { $0.device == device && $0.peerKey != nil }
    }
}

extension ByteCursor {
    /// Reads a type, 0 to 3 with those of identity addresses, and an address.
    fileprivate mutating func takePeer() throws(HCIStatus) -> HCIAddress {
        let type = try take(in: UInt8(0)...3)
        return try takeAddress(isRandom: type & 1 == 1)
    }
}
