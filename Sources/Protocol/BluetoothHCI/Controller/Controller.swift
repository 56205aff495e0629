import BluetoothSupport

/// A Bluetooth LE controller as a state machine: the packets of its host and the events of its Link Layer go in, packets for
/// the host and commands for the Link Layer come out.
///
/// It has neither a clock nor I/O nor cryptography of its own. No packet stops it: what the host sends wrongly is answered
/// with an error code, and whatever it keeps has a bound.
///
/// Source: Core Specification, Vol 4, Part E.
package struct Controller: Sendable {
    package struct Configuration: Sendable {
        /// The public address.
        package var address: HCIAddress
        /// The number of ACL packets that the host may send before the first is completed.
        package var bufferCount: UInt8
        /// The seed of LE Rand and of private addresses.
        package var seed: UInt64
        /// AES-128: encrypts a block of 16 bytes with a key of 16 bytes, both with the most significant byte first.
        package var cipher: @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]

        package init(
            address: HCIAddress, bufferCount: UInt8 = 16, seed: UInt64,
            cipher: @escaping @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]
        ) {
            (self.address, self.bufferCount, self.seed, self.cipher) = (address, max(1, bufferCount), seed, cipher)
        }
    }

    /// The results of a packet or an event, in order.
    package struct Output: Hashable, Sendable {
        /// The packets for the host.
        package var packets: [HCIPacket] = []
        package var commands: [LinkLayerCommand] = []
    }

    /// The greatest connection handle.
    package static let maximumHandle: UInt16 = 0x0EFF

    let configuration: Configuration
    var generator: SeededGenerator
    /// The state that Reset resets.
    var state = State()
    /// The output of the packet or the event that is being handled.
    var output = Output()

    struct State: Sendable {
        var eventMask = EventMask()
        var family: HCICommand.Family?
        var isLEHostSupported = false
        var linkDefaults = LinkDefaults()
        var randomAddress: HCIAddress?
        var acceptList = AcceptList()
        var resolvingList = ResolvingList()
        var advertising: [UInt8: AdvertisingSet] = [:]
        var scan = Scan()
        var initiator: Initiator?
        var links: [UInt16: HCILink] = [:]
        var hostFlow = HostFlow()
    }

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        generator = SeededGenerator(seed: configuration.seed, stream: "controller")
    }

    // MARK: Packets of the host

    /// Handles a packet of the host.
    package mutating func receive(_ packet: HCIPacket) -> Output {
        switch packet.kind {
        case .command: receive(command: packet.body)
        case .acl: receive(acl: packet.body)
        // A host sends no events.
        case .event: break
        }
        return takeOutput()
    }

    private mutating func receive(command bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        // A packet without a whole header names no command that could be answered.
        guard let opcode = cursor.littleEndian(UInt16.self), let length = cursor.byte() else { return }
        guard let command = HCICommand(rawValue: opcode) else {
            return answer(opcode, with: .commandStatus, .unknownCommand)
        }
        let definition = command.definition
        let parameters = cursor
        do throws(HCIStatus) {
            guard cursor.count == Int(length), definition.length.contains(cursor.count) else {
                throw HCIStatus.invalidCommandParameters
            }
            try choose(definition.family)
            guard let values = try perform(command, &cursor) else { return }
            answer(opcode, with: definition.answer, .success, parameters, values)
        } catch {
            answer(opcode, with: definition.answer, error, parameters)
        }
    }

    private mutating func choose(_ family: HCICommand.Family?) throws(HCIStatus) {
        guard let family else { return }
        guard state.family == nil || state.family == family else { throw .commandDisallowed }
        state.family = family
    }

    /// Answers a command, before the events that it has led to.
    private mutating func answer(
        _ opcode: UInt16, with answer: HCICommand.Answer, _ status: HCIStatus,
        _ parameters: ByteCursor = ByteCursor([]),
        _ values: [UInt8] = []
    ) {
        var handle: [UInt8] = []
        switch answer {
        case .commandComplete: break
        case .commandCompleteWithHandle: handle = Array((parameters.rest + [0, 0]).prefix(2))
        case .errorsAlone: if status == .success { return }
        case .commandStatus:
            let body = [status.rawValue, Self.commandCount] + opcode.bytes
            return output.packets.insert(HCIPacket(event: HCIEvent.commandStatus.rawValue, body), at: 0)
        }
        output.packets.insert(Self.commandComplete(opcode, [status.rawValue] + handle + values), at: 0)
    }

    static func commandComplete(_ opcode: UInt16, _ values: [UInt8]) -> HCIPacket {
        HCIPacket(event: HCIEvent.commandComplete.rawValue, [commandCount] + opcode.bytes + values)
    }

    /// The number of commands that the host may send before the next answer.
    private static let commandCount: UInt8 = 1

    /// Performs a command whose parameters have the right length.
    ///
    /// - Returns: The return parameters after the status and the handle; nil if the answer follows later.
    private mutating func perform(
        _ command: HCICommand, _ cursor: inout ByteCursor
    ) throws(HCIStatus) -> [UInt8]? {
        switch command {
        case .reset: reset()
        case .setEventMask: state.eventMask.events = try cursor.read()
        // The controller sends none of its events.
        case .setEventMaskPage2: break
        case .setLEEventMask: state.eventMask.lowEnergy = try cursor.read()

        case .readLEHostSupport: return [state.isLEHostSupported ? 1 : 0, 0]
        case .writeLEHostSupport: try writeLEHostSupport(&cursor)
        case .readLocalVersion: return LocalInformation.version + LocalInformation.subversion
        case .readLocalSupportedCommands: return HCICommand.supportedCommands
        case .readLocalSupportedFeatures: return LocalInformation.features
        case .readLocalExtendedFeatures: return try readExtendedFeatures(&cursor)
        case .readBufferSize: return bufferSize()
        case .readAddress: return configuration.address.bytes
        case .readLEBufferSize: return leBufferSize()
        // No isochronous data.
        case .readLEBufferSizeV2: return leBufferSize() + [0, 0, 0]
        case .readLELocalFeatures: return LocalInformation.lowEnergyFeatures
        case .readSupportedStates: return LocalInformation.supportedStates
        case .readAdvertisingTransmitPower: return [LocalInformation.maximumTransmitPower]
        case .readLETransmitPower:
            return [LocalInformation.minimumTransmitPower, LocalInformation.maximumTransmitPower]
        case .readTransmitPowerLevel: return try readTransmitPowerLevel(&cursor)

        case .setControllerToHostFlowControl: try setHostFlowControl(&cursor)
        case .hostBufferSize: try setHostBufferSize(&cursor)
        case .hostNumberOfCompletedPackets: try completeHostPackets(&cursor)

        case .setRandomAddress: try setRandomAddress(&cursor)
        case .setAdvertisingParameters: try setAdvertisingParameters(&cursor)
        case .setAdvertisingData: try setAdvertisingData(&cursor, \.data)
        case .setScanResponseData: try setAdvertisingData(&cursor, \.scanResponse)
        case .setAdvertisingEnable: try setAdvertisingEnable(&cursor)
        case .setAdvertisingSetRandomAddress: try setAdvertisingSetRandomAddress(&cursor)
        case .setExtendedAdvertisingParameters: return try setExtendedAdvertisingParameters(&cursor)
        case .setExtendedAdvertisingData: try setExtendedAdvertisingData(&cursor)
        case .setExtendedScanResponseData: try setExtendedScanResponseData(&cursor)
        case .setExtendedAdvertisingEnable: try setExtendedAdvertisingEnable(&cursor)
        case .readMaximumAdvertisingDataLength:
            return [UInt8(AdvertisingSet.maximumLength & 0xFF), UInt8(AdvertisingSet.maximumLength >> 8)]
        case .readNumberOfSupportedAdvertisingSets: return [UInt8(AdvertisingSet.maximumCount)]
        case .removeAdvertisingSet: try removeAdvertisingSet(&cursor)
        case .clearAdvertisingSets: try clearAdvertisingSets()

        case .setScanParameters: try setScanParameters(&cursor)
        case .setScanEnable: try setScanEnable(&cursor)
        case .setExtendedScanParameters: try setExtendedScanParameters(&cursor)
        case .setExtendedScanEnable: try setExtendedScanEnable(&cursor)

        case .createConnection: try createConnection(&cursor)
        case .extendedCreateConnection: try extendedCreateConnection(&cursor)
        case .createConnectionCancel: try cancelConnection()
        case .disconnect: try disconnect(&cursor)
        case .connectionUpdate: try updateConnection(&cursor)
        case .remoteConnectionParameterRequestReply: try acceptParameters(&cursor)
        case .remoteConnectionParameterRequestNegativeReply: try rejectParameters(&cursor)
        case .readRemoteFeatures: try readRemoteFeatures(&cursor)
        case .readRemoteVersion: try readRemoteVersion(&cursor)
        case .readRSSI:
            try readSignalStrength(&cursor)
            return nil
        case .setHostChannelClassification: try setChannelClassification(&cursor)
        case .readChannelMap: return try readChannelMap(&cursor)
        case .setDataLength: try setDataLength(&cursor)
        case .readSuggestedDefaultDataLength: return state.linkDefaults.dataLength.bytes
        case .writeSuggestedDefaultDataLength: state.linkDefaults.dataLength = try DataLength(&cursor)
        case .readMaximumDataLength: return DataLength.maximum.bytes + DataLength.maximum.bytes
        case .readPHY: return try readPHY(&cursor)
        case .setDefaultPHY: state.linkDefaults.phys = try PHYPreference(&cursor)
        case .setPHY: try setPHY(&cursor)

        case .readAcceptListSize: return [UInt8(AcceptList.maximumCount)]
        case .clearAcceptList: try changeAcceptList { $0 = AcceptList() }
        case .addDeviceToAcceptList: try changeAcceptList { list throws(HCIStatus) in try list.add(&cursor) }
        case .removeDeviceFromAcceptList: try changeAcceptList { list throws(HCIStatus) in try list.remove(&cursor) }

        case .addDeviceToResolvingList: try changeResolvingList { list throws(HCIStatus) in try list.add(&cursor) }
        case .removeDeviceFromResolvingList:
            try changeResolvingList { list throws(HCIStatus) in try list.remove(&cursor) }
        case .clearResolvingList: try changeResolvingList { $0.removeAll() }
        case .readResolvingListSize: return [UInt8(ResolvingList.maximumCount)]
        case .readPeerResolvableAddress: return try state.resolvingList.readPeerAddress(&cursor)
        case .readLocalResolvableAddress: return try state.resolvingList.readLocalAddress(&cursor)
        case .setAddressResolutionEnable:
            try changeResolution { list throws(HCIStatus) in list.isEnabled = try cursor.readFlag() }
        case .setResolvablePrivateAddressTimeout: try state.resolvingList.setTimeout(&cursor)
        case .setPrivacyMode: try changeResolution { list throws(HCIStatus) in try list.setPrivacyMode(&cursor) }

        case .encrypt: return try encrypt(&cursor)
        case .random: return generator.next().bytes
        case .enableEncryption: try enableEncryption(&cursor)
        case .longTermKeyRequestReply: try replyToKeyRequest(&cursor)
        case .longTermKeyRequestNegativeReply: try rejectKeyRequest(&cursor)
        }
        return []
    }

    private mutating func reset() {
        state = State()
        output.commands.append(.reset)
    }

    private func readExtendedFeatures(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let last: UInt8 = 1
        let page = try cursor.read(in: 0...last)
        let hostFeatures: [UInt8] = [state.isLEHostSupported ? 0x02 : 0, 0, 0, 0, 0, 0, 0, 0]
        return [page, last] + (page == 0 ? LocalInformation.features : hostFeatures)
    }

    private mutating func writeLEHostSupport(_ cursor: inout ByteCursor) throws(HCIStatus) {
        // The second parameter is ignored on receipt.
        state.isLEHostSupported = try cursor.readFlag()
    }

    private func bufferSize() -> [UInt8] {
        [UInt8(Self.maximumPacketLength), 0, 0, configuration.bufferCount, 0, 0, 0]
    }

    private func leBufferSize() -> [UInt8] { [UInt8(Self.maximumPacketLength), 0, configuration.bufferCount] }

    // MARK: Cryptography

    func encrypt(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let key = try cursor.readKey()
        let block = try cursor.readKey()
        return configuration.cipher(key, block).reversed()
    }

    // MARK: Events of the Link Layer

    /// Handles an event of the Link Layer; one of an unknown link or set leads to nothing.
    package mutating func handle(_ event: LinkLayerEvent) -> Output {
        switch event {
        case .heard(let report): hear(report)
        case .scanEnded: endScan()
        case .advertisingEnded(let set): endAdvertising(set)
        case .connected(let connection, let set): connect(connection, set)
        case .connectEnded(let status): endConnect(status)
        case .disconnected(let handle, let reason): end(handle, reason)
        case .received(let handle, let channel, let payload): deliver(payload, channel, handle)
        case .sent(let handle): completeFrame(handle)
        case .parametersChanged(let handle, let status, let parameters): changeParameters(handle, status, parameters)
        case .parametersRequested(let handle, let parameters): requestParameters(handle, parameters)
        case .signalStrength(let handle, let strength): reportSignalStrength(handle, strength)
        case .keyRequested(let handle, let random, let diversifier): requestKey(handle, random, diversifier)
        case .encryptionChanged(let handle, let status): changeEncryption(handle, status)
        }
        return takeOutput()
    }

    // MARK: Output

    mutating func takeOutput() -> Output { exchange(&output, with: Output()) }

    mutating func send(_ event: HCIEvent, _ parameters: [UInt8]) {
        if state.eventMask.allows(event) { output.packets.append(HCIPacket(event: event.rawValue, parameters)) }
    }

    mutating func send(_ event: LowEnergyEvent, _ parameters: [UInt8]) {
        if state.eventMask.allows(event) { output.packets.append(HCIPacket(lowEnergy: event.rawValue, parameters)) }
    }
}
