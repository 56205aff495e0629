/// Connections: how they are created, begin and end.
///
/// Source: Core Specification, Vol 4, Part E, 7.1.6, 7.8.12, 7.8.13 and 7.8.66.
extension Controller {
    static let maximumLinks = 16

    /// Reads the handle of a command.
    func link(_ cursor: inout ByteCursor) throws(HCIStatus) -> (handle: UInt16, link: HCILink) {
        let handle = try cursor.readHandle()
        guard let link = state.links[handle] else { throw .unknownConnectionIdentifier }
        return (handle, link)
    }

    // MARK: Creating

    mutating func createConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try cursor.skipScanTiming(0x0004...0x4000)
        let usesAcceptList = try cursor.readFlag()
        let peer = try cursor.readPeer()
        let ownAddressType = try cursor.read(in: UInt8(0)...3)
        let parameters = try cursor.readConnectionParameters()
        try cursor.skipEventLengths()
        try initiate(
            to: usesAcceptList ? nil : peer, ownAddressType: ownAddressType, parameters: parameters)
    }

    mutating func extendedCreateConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let usesAcceptList = try cursor.readFlag()
        let ownAddressType = try cursor.read(in: UInt8(0)...3)
        let peer = try cursor.readPeer()
        // A peer advertises on 1M or coded.
        let phys = try cursor.read(in: UInt8(1)...7)
        guard phys & 0b101 != 0, cursor.count == 16 * phys.nonzeroBitCount else { throw .invalidCommandParameters }
        try cursor.skipScanTiming(0x0004...0xFFFF)
        let parameters = try cursor.readConnectionParameters()
        try cursor.skipEventLengths()
        for _ in 1..<phys.nonzeroBitCount {
            try cursor.skipScanTiming(0x0004...0xFFFF)
            _ = try cursor.readConnectionParameters()
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
        let connected = Set(state.links.values.map(\.peer))
        if let peer, connected.contains(peer) { throw .connectionAlreadyExists }
        let address = try ownAddress(type: ownAddressType, random: state.randomAddress, peer: peer)
        state.initiator = Initiator(
            devices: peer.map { [$0] } ?? state.acceptList.devices.filter { !connected.contains($0) },
            usesAcceptList: peer == nil,
            settings: LinkLayerCommand.ConnectionSettings(address: address, parameters: parameters),
            list: state.resolvingList)
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
        guard let initiator = state.initiator.take() else { return }
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

    // MARK: Begin

    /// Handles a new link.
    mutating func connect(_ connection: HCIConnection, _ number: UInt8?) {
        guard state.links[connection.handle] == nil else { return }
        let set = connection.isCentral ? nil : endAdvertising(connected: number)
        guard connection.handle <= Self.maximumHandle, state.links.count < Self.maximumLinks else {
            output.commands.append(
                .disconnect(
                    handle: connection.handle, reason: HCIStatus.remoteDeviceTerminatedDueToLowResources.rawValue))
            if connection.isCentral { endConnect(HCIStatus.connectionLimitExceeded.rawValue) }
            return
        }
        var connection = connection
        resolve(&connection, local: connection.isCentral ? state.initiator?.settings.address : set?.address)
        if connection.isCentral {
            state.initiator = nil
            updateScan()
        }
        let handle = connection.handle
        state.links[handle] = HCILink(
            isCentral: connection.isCentral, peer: connection.peer, parameters: connection.parameters)
        let isEnhanced = state.eventMask.allows(.enhancedConnectionComplete)
        if isEnhanced || state.eventMask.allows(.connectionComplete) {
            output.packets.append(.connectionComplete(connection, isEnhanced: isEnhanced))
        }
        if state.family == .extended, let set {
            send(.advertisingSetTerminated, [HCIStatus.success.rawValue, set.number] + handle.bytes + [0])
        }
        // Algorithm #2.
        send(.channelSelectionAlgorithm, handle.bytes + [1])
        changeDataLength(handle, state.linkDefaults.dataLength)
        if let phys = state.links[handle]?.phys, state.linkDefaults.phys.preferred(phys) != phys {
            changePHYs(handle, state.linkDefaults.phys.preferred(phys))
        }
    }

    /// Replaces the addresses on the air by those that the host knows.
    private mutating func resolve(_ connection: inout HCIConnection, local: HCIAddress?) {
        let peer = connection.privateAddress ?? connection.peer
        let identity = state.resolvingList.identity(of: peer, using: configuration.cipher)
        connection.peer = identity ?? peer
        connection.privateAddress = identity == nil ? nil : peer
        connection.localPrivateAddress = local.flatMap { state.resolvingList.hasMade($0) ? $0 : nil }
    }

    // MARK: End

    mutating func disconnect(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let reason = try cursor.read(UInt8.self)
        let reasons: [HCIStatus] = [
            .remoteUserTerminatedConnection, .remoteDeviceTerminatedDueToLowResources,
            .remoteDeviceTerminatedDueToPowerOff, .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported,
            .unacceptableConnectionParameters,
        ]
        // Authentication Failure, which no command returns.
        let isValid = reason == 0x05 || reasons.contains { $0.rawValue == reason }
        guard isValid else { throw .invalidCommandParameters }
        guard !link.procedures.contains(.disconnect) else { throw .commandDisallowed }
        end(handle, sending: reason)
    }

    mutating func end(_ handle: UInt16, sending reason: UInt8) {
        state.links[handle]?.procedures.insert(.disconnect)
        output.commands.append(.disconnect(handle: handle, reason: reason))
    }

    /// Handles the end of a link, with which the host takes all of its packets as completed.
    mutating func end(_ handle: UInt16, _ reason: UInt8) {
        guard let link = state.links.removeValue(forKey: handle) else { return }
        state.hostFlow.assembler.end(host: 0, handle: handle)
        if link.procedures.contains(.signalStrength) {
            answerSignalStrength(handle, .unknownConnectionIdentifier, 127)
        }
        send(.disconnectionComplete, [HCIStatus.success.rawValue] + handle.bytes + [reason])
        // Its buffers of the host are free for the other links.
        deliverWaiting()
    }
}
