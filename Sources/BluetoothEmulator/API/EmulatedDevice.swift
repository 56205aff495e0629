public import BluetoothBackend
public import BluetoothSupport

/// A device of an emulated world: the controls of its values, its links, its signal and its services.
///
/// Each control enters the emulator's line and happens in order: at once in real time, with the next drive in virtual
/// time. Controls of a removed device do nothing.
public struct EmulatedDevice: Hashable, Sendable {
    /// Its emulator.
    public let emulator: Emulator
    let ref: Ref<Device>

    /// Its number in its world, by which ``Emulator/device(number:)`` finds it; no later device has it.
    ///
    /// For what must not keep the emulator alive, as this value does.
    public var number: UInt32 { ref.serial }

    /// Whether both are the same device.
    public static func == (left: Self, right: Self) -> Bool {
        left.emulator === right.emulator && left.ref == right.ref
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ref) }

    func control(_ control: DeviceControl) { emulator.submit(.device(ref, control)) }

    /// The name of its description; empty when it was removed.
    public var name: String { emulator.core.withLock { $0.world.devices[ref]?.description.name } ?? "" }

    /// Whether its handler has a parameter; an own handler may have any.
    func has(_ parameter: DeviceParameter) -> Bool {
        emulator.core.withLock { $0.world.devices[ref]?.handler.accepts(parameter) } == true
    }

    /// Whether it has a characteristic.
    func has(_ characteristic: CharacteristicPath) -> Bool {
        emulator.core.withLock { $0.world.characteristic(characteristic, of: ref) } != nil
    }

    /// Sets a parameter of the device's handler.
    ///
    /// A value out of the range becomes the nearest bound. A parameter that the device does not have is ignored, with a
    /// line in the trace.
    public func set(_ parameter: DeviceParameter, to value: Double) { control(.setParameter(parameter, value)) }

    // MARK: Values

    /// Stores a value and notifies (or indicates it to) subscribers.
    public func notify(_ characteristic: CharacteristicPath, value: Data) {
        control(.notify(.path(characteristic), value))
    }

    /// Stores a value without notifying it.
    public func setValue(_ value: Data, of characteristic: CharacteristicPath) {
        control(.setValue(.path(characteristic), value))
    }

    /// Leaves reads of a characteristic without an answer while `isHeld`; those are never answered.
    public func holdReads(of characteristic: CharacteristicPath, _ isHeld: Bool = true) {
        control(.hold(characteristic, isHeld))
    }

    /// The stored value of a characteristic, nil if there is no such characteristic.
    public func value(of characteristic: CharacteristicPath) -> Data? {
        emulator.core.withLock { core in
            core.world.characteristic(characteristic, of: ref).flatMap {
                core.world.devices[ref]?.server.database[$0]?.value
            }
        }
    }

    /// The number of links that subscribe to a characteristic.
    public func subscriberCount(of characteristic: CharacteristicPath) -> Int {
        emulator.core.withLock { $0.world.subscriberCount(.path(characteristic), of: ref) }
    }

    // MARK: Links

    /// The number of its links.
    public var connectionCount: Int {
        emulator.core.withLock { $0.world.devices[ref]?.links.count ?? 0 }
    }

    /// Whether a request on one of its links waits for its answer, such as a read that is held.
    package var hasUnansweredRequest: Bool {
        emulator.core.withLock { core in
            core.world.devices[ref]?.links.contains { core.world.links[$0]?.server.transactionTimeout != nil } ?? false
        }
    }

    /// Closes its links, as the device.
    ///
    /// - Parameter error: The error that apps of this process get in `didDisconnectPeripheral`, in place of
    ///   `CBError.peripheralDisconnected`.
    public func disconnect(with error: OpaqueError? = nil) { control(.disconnect(error)) }

    /// Loses its links without disconnecting, as by a crash: centrals notice after the supervision timeout.
    ///
    /// - Parameter staysOnAir: Whether it advertises at once as before; otherwise all its sets are switched off.
    public func reset(staysOnAir: Bool = true) { control(.lose(staysOnAir: staysOnAir)) }

    /// Exchanges the ATT MTU as the device, 23...517 bytes, of which each central takes no more than it offers.
    public func exchangeMTU(_ mtu: Int) { control(.exchangeMTU(mtu)) }

    /// Makes the next connects fail.
    public func failNextConnections(_ count: Int = 1) { control(.failConnections(count)) }

    // MARK: Channels

    /// The open L2CAP channels, in the order of their opening.
    public var channels: [ChannelID] {
        emulator.core.withLock { core in
            (core.world.devices[ref]?.links ?? []).flatMap { core.world.links[$0]?.channels ?? [] }.sorted()
        }
    }

    /// Sends bytes on an L2CAP channel, as soon as the central has room for them.
    public func send(_ data: Data, on channel: ChannelID) { control(.send(channel, data)) }

    /// Closes an L2CAP channel, after all that was sent before.
    public func close(_ channel: ChannelID) { control(.closeChannel(channel)) }

    // MARK: Security

    /// Changes how it pairs.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func setPairing(_ pairing: PairingDescription) throws {
        try pairing.validate()
        control(.setPairing(pairing))
    }

    /// Loses its keys of a host, or of all, as by a reset to factory settings: bonded hosts cannot encrypt any more.
    public func removeBond(with host: EmulatedHost? = nil) { control(.loseBonds(host?.address)) }

    // MARK: The air

    /// Brings it nearer or farther; out of range its links die after the supervision timeout.
    public func setProximity(_ proximity: Proximity) { control(.setProximity(proximity)) }

    /// Sets the mean signal strength in dBm; nil takes the proximity's.
    public func setRSSI(_ rssi: Int?) { control(.setRSSI(rssi)) }

    /// Switches an advertising set, or all, on or off.
    public func setAdvertising(_ isOn: Bool, set index: Int? = nil) { control(.enableAdvertising(index, isOn)) }

    /// Replaces the data of an advertising set, or adds a set at the end.
    ///
    /// - Parameters:
    ///   - description: What the set sends.
    ///   - index: Its number.
    ///   - firstPacket: The time from now, and from each switching on, to the first packet; the set keeps this phase for later
    ///     scans. Nil is any time within the interval, as on the air.
    /// - Throws: ``DescriptionError`` naming field and rule.
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
    ///   - isAnnounced: Whether hosts that are connected read it again now, and call `peripheralDidUpdateName(_:)`; otherwise
    ///     they learn of it when they connect next.
    public func rename(_ name: String, isAnnounced: Bool = false) {
        control(.rename(name, isAnnounced: isAnnounced))
    }

    /// Changes the address, by which it becomes another peer to all hosts; its links end by supervision timeout.
    public func changeAddress(_ address: DeviceAddress) { control(.changeAddress(address)) }

    /// Takes a new private address: another device to all hosts that have no keys of it; its links stay.
    public func rotateAddress() { control(.rotateAddress) }

    /// Sets the chance, 0...1, that a packet of its links is lost and sent again with the next connection event.
    public func setPacketLossRate(_ rate: Double) { control(.setPacketLoss(min(1, max(0, rate)))) }

    /// Asks its centrals for other connection parameters, which are in force six connection events later.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func requestParameters(_ parameters: ConnectionParameters) throws {
        try parameters.validate()
        control(.setParameters(parameters))
    }

    /// Removes it from the world.
    public func remove() { control(.remove) }

    /// Its identifier in the apps of a host, until its address changes.
    public func identifier(onHost host: String = "default") -> PeerID? {
        emulator.core.withLock { core in
            core.world.hosts.firstIndex { $0.identity.name == host }.flatMap {
                core.world.devices[ref]?.identity.peers[$0]
            }
        }
    }

    // MARK: Services

    /// Adds a service, with Service Changed to those who are connected.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func addService(_ service: ServiceDescription) throws {
        try service.validate()
        control(.addService(service))
    }

    /// Removes a service, with Service Changed to those who are connected.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - index: Which one among those of that UUID, from 0 on.
    public func removeService(_ uuid: BluetoothUUID, index: Int = 0) { control(.removeService(uuid, index: index)) }
}
