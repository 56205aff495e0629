/// Links: their begin and end, and what a host does with them.
///
/// Source: Core Specification, Vol 4, Part E, 7.1.6, 7.1.23, 7.5.4, 7.8.18 to 7.8.21, 7.8.31 to 7.8.34 and 7.8.47 to 7.8.49.
extension Controller {
    static let maximumLinks = 16

    /// All 37 data channels.
    static let allChannels: UInt64 = 0x1F_FFFF_FFFF

    /// Reads the handle of a command.
    func link(_ cursor: inout ByteCursor) throws(HCIStatus) -> (handle: UInt16, link: Link) {
        let handle = try cursor.takeHandle()
        guard let link = state.links[handle] else { throw .unknownConnectionIdentifier }
        return (handle, link)
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
        resolve(&connection, set)
        if connection.isCentral {
            state.initiator = nil
            updateScan()
        }
        let handle = connection.handle
        state.links[handle] = Link(
            isCentral: connection.isCentral, peer: connection.peer, parameters: connection.parameters)
        let isEnhanced = state.eventMask.allows(.enhancedConnectionComplete)
        if isEnhanced || state.eventMask.allows(.connectionComplete) {
            output.packets.append(.connectionComplete(connection, isEnhanced: isEnhanced))
        }
        if state.family == .extended, let set {
            send(.advertisingSetTerminated, [HCIStatus.success.rawValue, set] + handle.bytes + [0])
        }
        // Algorithm #2.
        send(.channelSelectionAlgorithm, handle.bytes + [1])
        changeDataLength(handle, state.defaultDataLength)
        if let phys = state.links[handle]?.phys, state.defaultPHYs.preferred(phys) != phys {
            changePHYs(handle, state.defaultPHYs.preferred(phys))
        }
    }

    /// Replaces the addresses on the air by those that the host knows.
    private mutating func resolve(_ connection: inout HCIConnection, _ set: UInt8?) {
        let peer = connection.privateAddress ?? connection.peer
        let identity = state.resolvingList.identity(of: peer, using: configuration.cipher)
        connection.peer = identity ?? peer
        connection.privateAddress = identity == nil ? nil : peer
        let local =
            connection.isCentral ? state.initiator?.settings.address : set.flatMap { state.advertising[$0]?.address }
        let isPrivate = local.map { address in state.resolvingList.entries.contains { $0.localAddress == address } }
        connection.localPrivateAddress = isPrivate == true ? local : nil
    }

    // MARK: End

    mutating func disconnect(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let reason = try cursor.take(UInt8.self)
        let reasons: [HCIStatus] = [
            .remoteUserTerminatedConnection, .remoteDeviceTerminatedDueToLowResources,
            .remoteDeviceTerminatedDueToPowerOff, .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported,
            .unacceptableConnectionParameters,
        ]
        // Authentication Failure, which no command returns.
        let isValid = reason == 0x05 || reasons.contains { $0.rawValue == reason }
        guard isValid else { throw .invalidCommandParameters }
        guard !link.isEnding else { throw .commandDisallowed }
        end(handle, sending: reason)
    }

    mutating func end(_ handle: UInt16, sending reason: UInt8) {
        state.links[handle]?.isEnding = true
        output.commands.append(.disconnect(handle: handle, reason: reason))
    }

    /// Handles the end of a link, with which the host takes all of its packets as completed.
    mutating func end(_ handle: UInt16, _ reason: UInt8) {
        guard let link = state.links.removeValue(forKey: handle) else { return }
        state.hostFlow.assembler.end(host: 0, handle: handle)
        if link.isReadingSignalStrength {
            answerSignalStrength(handle, .unknownConnectionIdentifier, 127)
        }
        send(.disconnectionComplete, [HCIStatus.success.rawValue] + handle.bytes + [reason])
        // Its buffers of the host are free for the other links.
        deliverWaiting()
    }

    // MARK: Parameters

    mutating func updateConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let parameters = try cursor.takeConnectionParameters()
        try cursor.skipEventLengths()
        guard !link.isUpdating else { throw .commandDisallowed }
        state.links[handle]?.isUpdating = true
        output.commands.append(.updateParameters(handle: handle, parameters))
    }

    /// Handles an update: the host that did not ask gets only what changes.
    mutating func changeParameters(_ handle: UInt16, _ status: UInt8, _ parameters: HCIConnectionParameters) {
        guard let link = state.links[handle] else { return }
        state.links[handle]?.isUpdating = false
        if status == 0 { state.links[handle]?.parameters = parameters }
        guard link.isUpdating || status == 0 && parameters != link.parameters else { return }
        send(.connectionUpdateComplete, [status] + handle.bytes + parameters.bytes)
    }

    mutating func requestParameters(_ handle: UInt16, _ parameters: HCIConnectionParameters) {
        guard state.links[handle] != nil else { return }
        guard state.eventMask.allows(.remoteConnectionParameterRequest) else {
            return output.commands.append(.answerParametersRequest(handle: handle, nil))
        }
        state.links[handle]?.areParametersRequested = true
        // The shortest and the longest interval are the same.
        send(.remoteConnectionParameterRequest, handle.bytes + parameters.bytes.prefix(2) + parameters.bytes)
    }

    mutating func acceptParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let parameters = try cursor.takeConnectionParameters()
        try cursor.skipEventLengths()
        guard link.areParametersRequested else { throw .commandDisallowed }
        state.links[handle]?.areParametersRequested = false
        output.commands.append(.answerParametersRequest(handle: handle, parameters))
    }

    mutating func rejectParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        // The reason, which is Unacceptable Connection Parameters to the other end.
        _ = try cursor.take(UInt8.self)
        guard link.areParametersRequested else { throw .commandDisallowed }
        state.links[handle]?.areParametersRequested = false
        output.commands.append(.answerParametersRequest(handle: handle, nil))
    }

    // MARK: The other end

    mutating func readRemoteFeatures(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        send(
            .readRemoteFeaturesComplete, [HCIStatus.success.rawValue] + handle.bytes + Self.lowEnergyFeatures)
    }

    mutating func readRemoteVersion(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        // Without the revision of HCI.
        send(
            .readRemoteVersionComplete,
            [HCIStatus.success.rawValue] + handle.bytes + Self.version.suffix(3) + Self.subversion)
    }

    // MARK: Radio

    mutating func readSignalStrength(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        guard !link.isReadingSignalStrength else { throw .commandDisallowed }
        state.links[handle]?.isReadingSignalStrength = true
        output.commands.append(.readSignalStrength(handle: handle))
    }

    mutating func reportSignalStrength(_ handle: UInt16, _ strength: Int8) {
        guard state.links[handle]?.isReadingSignalStrength == true else { return }
        state.links[handle]?.isReadingSignalStrength = false
        answerSignalStrength(handle, .success, strength)
    }

    private mutating func answerSignalStrength(_ handle: UInt16, _ status: HCIStatus, _ strength: Int8) {
        output.packets.append(
            Self.commandComplete(
                HCICommand.readRSSI.rawValue, [status.rawValue] + handle.bytes + [UInt8(bitPattern: strength)]))
    }

    mutating func setChannelClassification(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let map = UInt64(try cursor.take(UInt32.self)) | UInt64(try cursor.take(UInt8.self)) << 32
        guard map & ~Self.allChannels == 0, map != 0 else { throw .invalidCommandParameters }
        state.channelMap = map
    }

    func readChannelMap(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        // The central chooses the map.
        let map = try link(&cursor).link.isCentral ? state.channelMap : Self.allChannels
        return (0..<5).map { UInt8(truncatingIfNeeded: map >> (8 * $0)) }
    }

    mutating func setDataLength(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        changeDataLength(handle, try DataLength(&cursor))
    }

    private mutating func changeDataLength(_ handle: UInt16, _ length: DataLength) {
        guard let link = state.links[handle], link.dataLength != length else { return }
        state.links[handle]?.dataLength = length
        send(.dataLengthChange, handle.bytes + length.bytes + DataLength.remote.bytes)
    }

    func readPHY(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] { try link(&cursor).link.phys.bytes }

    mutating func setPHY(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let preference = try PHYPreference(&cursor)
        // The coding of coded PHY, which the Link Layer chooses.
        _ = try cursor.take(UInt16.self)
        changePHYs(handle, preference.fastest(link.phys))
    }

    private mutating func changePHYs(_ handle: UInt16, _ phys: PHYs) {
        state.links[handle]?.phys = phys
        send(.phyUpdateComplete, [HCIStatus.success.rawValue] + handle.bytes + phys.bytes)
    }
}

extension UInt16 {
    /// Two bytes, least significant first.
    var bytes: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}
