public import BluetoothBackend
public import BluetoothSupport

/// A device of an emulated world, with controls of its values, links, signal and services.
///
/// The controls of an emulator run in the order of the calls: at once in real time, with the next advance in virtual
/// time. Controls of a removed device do nothing.
public struct EmulatedDevice: Hashable, Sendable {
    /// The device's emulator.
    public let emulator: Emulator
    let ref: Ref<Device>

    /// The device's number in its world, for ``Emulator/device(number:)``; never reused.
    ///
    /// A device value retains its emulator; the number does not.
    public var number: UInt32 { ref.serial }

    /// Returns whether both values are the same device of the same emulator.
    public static func == (left: Self, right: Self) -> Bool {
        left.emulator === right.emulator && left.ref == right.ref
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ref) }

    func control(_ control: DeviceControl) { emulator.submit(.device(ref, control)) }

    /// The present state; nil if the device was removed.
    var device: Device? { emulator.core.withLock { $0.world.lower.air.devices[ref] } }

    /// The name in the device's description; empty if the device was removed.
    public var name: String { device?.description.name ?? "" }

    /// Whether the device's handler has a parameter; a custom handler may have any.
    func has(_ parameter: DeviceParameter) -> Bool {
        device?.handler.accepts(parameter) == true
    }

    /// Whether the device has a characteristic.
    func has(_ characteristic: CharacteristicPath) -> Bool {
        device?.server.database.characteristic(characteristic) != nil
    }

    /// Sets a parameter of the device's handler.
    ///
    /// A value outside the range becomes the nearest bound. A parameter that the device does not have is ignored, with
    /// a line in the trace.
    public func set(_ parameter: DeviceParameter, to value: Double) { control(.setParameter(parameter, value)) }

    // MARK: Values

    /// Stores a value, and notifies or indicates it to subscribers.
    public func notify(_ characteristic: CharacteristicPath, value: Data) {
        control(.notify(.path(characteristic), value))
    }

    /// Stores a value without notifying it.
    public func setValue(_ value: Data, of characteristic: CharacteristicPath) {
        control(.setValue(.path(characteristic), value))
    }

    /// Stores the value of a descriptor, the first one of its type in the characteristic, without notifying a central.
    ///
    /// If there is no such descriptor, nothing happens but a line in the trace. The Client Characteristic Configuration,
    /// 2902, cannot be set, because each central has its own.
    public func setValue(
        _ value: Data, ofDescriptor descriptor: BluetoothUUID, of characteristic: CharacteristicPath
    ) {
        control(.setValue(.descriptor(descriptor, of: characteristic), value))
    }

    /// Holds reads of a characteristic while `isHeld` is true; held reads are never answered.
    public func holdReads(of characteristic: CharacteristicPath, _ isHeld: Bool = true) {
        control(.hold(characteristic, isHeld))
    }

    /// The stored value of a characteristic; nil if the device has no such characteristic.
    public func value(of characteristic: CharacteristicPath) -> Data? {
        guard let database = device?.server.database else { return nil }
        return database.characteristic(characteristic).flatMap { database[$0]?.value }
    }

    /// The stored value of a descriptor, the first one of its type in the characteristic; nil if it does not exist.
    public func value(ofDescriptor descriptor: BluetoothUUID, of characteristic: CharacteristicPath) -> Data? {
        guard let database = device?.server.database else { return nil }
        return database.descriptor(descriptor, of: characteristic).flatMap { database[$0]?.value }
    }

    /// The number of links that subscribe to a characteristic.
    public func subscriberCount(of characteristic: CharacteristicPath) -> Int {
        emulator.core.withLock { $0.world.subscriberCount(.path(characteristic), of: ref) }
    }

    // MARK: Links

    /// The number of the device's links.
    public var connectionCount: Int { emulator.core.withLock { $0.world.lower.air.links(of: ref).count } }

    /// Whether a request on one of the device's links awaits its answer, such as a held read.
    package var hasUnansweredRequest: Bool {
        emulator.core.withLock { core in
            core.world.lower.air.links(of: ref).contains { core.world.gatt[$0]?.server.transactionTimeout != nil }
        }
    }

    /// Closes the device's links from the device's side.
    ///
    /// - Parameter error: The error that apps of this process get in `didDisconnectPeripheral`, in place of
    ///   `CBError.peripheralDisconnected`.
    public func disconnect(with error: OpaqueError? = nil) { control(.disconnect(error)) }

    /// Loses the device's links without disconnecting, as in a crash: centrals notice after the supervision timeout.
    ///
    /// - Parameter staysOnAir: Whether the device advertises again at once; otherwise all its sets are switched off.
    public func reset(staysOnAir: Bool = true) { control(.lose(staysOnAir: staysOnAir)) }

    /// Starts an exchange of the ATT MTU from the device's side, 23...517 bytes; no central accepts more than it
    /// offers.
    public func exchangeMTU(_ mtu: Int) { control(.exchangeMTU(mtu)) }

    /// Makes the next `count` connects fail.
    public func failNextConnections(_ count: Int = 1) { control(.failConnections(count)) }

    // MARK: Channels

    /// The open L2CAP channels, in the order of their opening.
    public var channels: [ChannelID] {
        emulator.core.withLock { core in
            core.world.lower.air.links(of: ref).flatMap { core.world.channels.ids(on: $0) }.sorted()
        }
    }

    /// Sends bytes on an L2CAP channel, as soon as the central has room for them.
    public func send(_ data: Data, on channel: ChannelID) { control(.send(channel, data)) }

    /// Closes an L2CAP channel after everything sent before has been delivered.
    public func close(_ channel: ChannelID) { control(.closeChannel(channel)) }

    // MARK: Security

    /// Changes how the device pairs.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func setPairing(_ pairing: PairingDescription) throws {
        try pairing.validate()
        control(.setPairing(pairing))
    }

    /// Enters, as the device's user, the passkey that a host outside of the emulator displays.
    ///
    /// Without effect unless a pairing of such a host waits for the number. In other pairings, the device's user enters what
    /// the other side displays without being asked.
    ///
    /// - Parameter passkey: 0...999999; the pairing fails if it is not the displayed one.
    public func enterPasskey(_ passkey: Int) { control(.enterPasskey(passkey)) }

    /// Deletes the device's keys of a host, or of all, as a factory reset does: bonded hosts can no longer encrypt.
    public func removeBond(with host: EmulatedHost? = nil) { control(.loseBonds(host?.address)) }

    // MARK: The air

    /// Moves the device; if it goes out of range, its links end after the supervision timeout.
    public func setProximity(_ proximity: Proximity) { control(.setProximity(proximity)) }

    /// Sets the mean signal strength in dBm; nil uses the proximity's.
    public func setRSSI(_ rssi: Int?) { control(.setRSSI(rssi)) }

    /// Switches an advertising set, or all of them, on or off.
    public func setAdvertising(_ isOn: Bool, set index: Int? = nil) { control(.enableAdvertising(index, isOn)) }

    /// Replaces the data of an advertising set, or appends a set.
    ///
    /// - Parameters:
    ///   - description: The new content of the set.
    ///   - index: The set's number.
    ///   - firstPacket: The time to the first packet, from now and from each time the set is switched on; the set keeps
    ///     this phase for later scans. Nil is any time within the interval, as on the air.
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func setAdvertising(
        _ description: AdvertisingDescription, set index: Int = 0, firstPacketAfter firstPacket: Duration? = nil
    ) throws {
        try description.validate()
        control(.setAdvertising(index, description, firstPacket: firstPacket))
    }

    /// Changes the GAP Device Name.
    ///
    /// - Parameters:
    ///   - name: The new name.
    ///   - isAnnounced: Whether connected hosts read it again now and call `peripheralDidUpdateName(_:)`; otherwise
    ///     they learn the name with their next connection.
    public func rename(_ name: String, isAnnounced: Bool = false) {
        control(.rename(name, isAnnounced: isAnnounced))
    }

    /// Changes the address, so all hosts see a new peer; the device's links end after the supervision timeout.
    public func changeAddress(_ address: DeviceAddress) { control(.changeAddress(address)) }

    /// Changes to a new private address: hosts without the device's keys see a new device; its links stay.
    public func rotateAddress() { control(.rotateAddress) }

    /// Sets the chance, 0...1, that a packet of the device's links is lost and sent again with the next connection
    /// event.
    public func setPacketLossRate(_ rate: Double) { control(.setPacketLoss(min(1, max(0, rate)))) }

    /// Asks the device's centrals for other connection parameters, which apply six connection events later.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func requestParameters(_ parameters: ConnectionParameters) throws {
        try parameters.validate()
        control(.setParameters(parameters))
    }

    /// Removes the device from the world.
    public func remove() { control(.remove) }

    /// The device's identifier in the apps of a host, valid until its address changes.
    public func identifier(onHost host: String = "default") -> PeerID? {
        emulator.core.withLock { core in
            guard let host = core.world.lower.hosts.firstIndex(where: { $0.identity.name == host }),
                let device = core.world.lower.air.devices[ref]
            else { return nil }
            return device.identity.peers[host]
        }
    }

    // MARK: Services

    /// Adds a service, and indicates Service Changed to connected centrals.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func addService(_ service: ServiceDescription) throws {
        try service.validate()
        control(.addService(service))
    }

    /// Removes a service, and indicates Service Changed to connected centrals.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - index: The index among the services with that UUID, from 0.
    public func removeService(_ uuid: BluetoothUUID, index: Int = 0) { control(.removeService(uuid, index: index)) }
}
