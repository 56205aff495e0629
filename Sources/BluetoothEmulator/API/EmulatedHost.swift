public import BluetoothBackend
import BluetoothSupport

/// A host of an emulated world: the controls of its adapter, its permission, its known devices and its other apps.
///
/// Each control enters the emulator's line and happens in order: at once in real time, with the next drive in virtual
/// time.
public struct EmulatedHost: Sendable {
    /// Its emulator.
    public let emulator: Emulator
    /// Its place in ``Emulator/hosts``, by which taps report it.
    package let index: Int

    private func control(_ control: HostControl) { emulator.submit(.host(index, control)) }

    /// Does nothing for a device that was removed.
    private func control(_ device: EmulatedDevice, _ makeControl: (PeerID) -> HostControl) {
        if let peer = device.identifier(onHost: name) { control(makeControl(peer)) }
    }

    /// The name by which managers choose it.
    public var name: String { emulator.core.withLock { $0.world.hosts[index].identity.name } }

    /// Its identity address: the one on the air, unless it rotates addresses.
    public var address: DeviceAddress { emulator.core.withLock { $0.world.hosts[index].identity.address } }

    /// Its address on the air, by which devices without its keys know it.
    public var airAddress: DeviceAddress { emulator.core.withLock { $0.world.hosts[index].identity.airAddress } }

    /// Takes a new resolvable private address; links stay.
    ///
    /// Devices with its keys still recognize it; to others it is a new central and a new peripheral.
    ///
    /// Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    public func rotateAddress() { control(.rotateAddress) }

    /// The state that its managers see.
    public var state: AdapterState { emulator.core.withLock { $0.world.hosts[index].adapter.state } }

    /// The device that the host's peripheral managers form on the air, with its proximity and links; nil before the first
    /// peripheral manager.
    ///
    /// Its services and advertisements belong to the managers: controls that would change them do nothing.
    public var peripheral: EmulatedDevice? {
        emulator.core.withLock { $0.world.hosts[index].server }.map { EmulatedDevice(emulator: emulator, ref: $0) }
    }

    /// Switches the adapter on or off.
    ///
    /// Links end without a `disconnected`.
    public func setPower(_ isOn: Bool) { control(.power(isOn)) }

    /// Changes the permission: `.unauthorized` where it is denied or restricted, `.unknown` where the user was not asked.
    public func setAuthorization(_ status: AuthorizationStatus) { control(.authorize(status)) }

    /// Gives the host's adapter a feature or takes it away.
    ///
    /// - Without the peripheral role, peripheral managers are `.unsupported`.
    /// - Without extended scanning, extended advertisements are not received.
    /// - Without L2CAP channels, opening and publishing one fails.
    /// - Without pairing, no agent is asked.
    /// - Without the signal strength of links, reading it fails.
    /// - Without reasons for disconnects, the reason is unknown, unless this host ends the link.
    public func setSupport(_ feature: BackendFeature, _ isSupported: Bool) {
        control(.setFeature(feature, isSupported))
    }

    /// Grants a connected device access to the host's notifications, or withdraws it.
    public func setANCSAuthorized(_ isAuthorized: Bool, for device: EmulatedDevice) {
        control(device) { .authorizeANCS($0, isAuthorized) }
    }

    /// Ends the app that gave this restore identifier, as the system does with one in the background: its managers get no
    /// events any more, but their connections, pending connects, scan, services and advertising are preserved for the
    /// next manager of that identifier.
    ///
    /// In virtual time, that happens with the next advance.
    public func terminateApp(restoreIdentifier: String) { control(.terminateApp(restoreIdentifier)) }

    /// Preserves a state for the next central manager of this restore identifier.
    ///
    /// Peers that are linked to the host (see ``connectOtherApp(to:withoutAdvertising:)``) are restored as connected, others as connecting.
    public func setRestoredState(_ state: RestoredCentralState, for restoreIdentifier: String) {
        control(.preserveCentral(state, restoreIdentifier))
    }

    /// Preserves a state for the next peripheral manager of this restore identifier on this host.
    ///
    /// Its subscriptions are those of the centrals that are connected then.
    public func setRestoredState(_ state: RestoredPeripheralState, for restoreIdentifier: String) {
        control(.preservePeripheral(state, restoreIdentifier))
    }

    /// Restarts the system's Bluetooth service: the state is `.resetting` for `duration`.
    public func reset(for duration: Duration = .seconds(1)) { control(.reset(duration)) }

    /// Unplugs the adapter or plugs it in: `.unsupported` in between.
    public func setPlugged(_ isPlugged: Bool) { control(.plug(isPlugged)) }

    /// Shows managers a state of the adapter, regardless of its power, its plug and its permission.
    ///
    /// The state lasts until this is called again.
    ///
    /// For states that a test cannot reach otherwise, such as `.unknown` and `.resetting`. All but `.poweredOn` end scans and
    /// links as ``setPower(_:)`` does; below `.poweredOff` nothing is published any more.
    ///
    /// - Parameter state: nil derives the state from power, plug and permission again.
    public func setState(_ state: AdapterState?) { control(.setState(state)) }

    /// Changes what the advertisements of its peripheral managers carry besides their own content: those on the air at once,
    /// later ones when they start.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func setAdvertising(_ advertising: HostAdvertising) throws {
        try advertising.validate()
        control(.setAdvertising(advertising))
    }

    /// Limits the ATT MTU of links that come up from now on, of both roles, to 23...517 bytes.
    ///
    /// The smallest of this, ``EmulatorConfiguration/maximumMTU`` and the other side's is agreed.
    ///
    /// - Parameter mtu: nil takes ``EmulatorConfiguration/maximumMTU`` alone.
    public func setMaximumMTU(_ mtu: Int?) {
        control(.setMaximumMTU(mtu.map { min(ATTLimits.maximumMTU, max(ATTLimits.minimumMTU, $0)) }))
    }

    /// Forgets a device that is not connected, as if it was never seen.
    public func forget(_ device: EmulatedDevice) { control(device) { .forget($0) } }

    /// Another app of this host connects to a device, seen or not.
    ///
    /// - Parameters:
    ///   - device: A device, or what another host's managers publish.
    ///   - withoutAdvertising: Whether the link is there at once, if the device is in range, as one that was made long ago: no
    ///     packet is waited for, no fault is met, and the device's handler is not asked. Otherwise the device must advertise.
    public func connectOtherApp(to device: EmulatedDevice, withoutAdvertising: Bool = false) {
        control(device) { .connectOtherApp($0, withoutAdvertising: withoutAdvertising) }
    }

    /// The other app releases its connection.
    public func disconnectOtherApp(from device: EmulatedDevice) { control(device) { .disconnectOtherApp($0) } }

    /// Makes an agent for pairing on this host, whoever its managers are.
    public func makePairing() -> any PairingBackend { emulator.makePairing(host: index) }

    /// Whether the host has keys of a device.
    public func isBonded(with device: EmulatedDevice) -> Bool {
        emulator.core.withLock { core in
            core.world.devices[device.ref].map {
                core.world.hosts[index].pairing.bonds[$0.identity.identityAddress] != nil
            } ?? false
        }
    }

    /// Bonds the host and a device, as if they had paired before.
    public func bond(with device: EmulatedDevice) { control(.bond(device.ref)) }

    /// Removes the keys of a device, as a user does in the system's settings; their links end.
    public func removeBond(with device: EmulatedDevice) {
        let address = emulator.core.withLock { $0.world.devices[device.ref]?.identity.identityAddress }
        guard let address else { return }
        control(.removeBond(address))
    }

    /// Makes a device known, as if it had been seen before: it can be retrieved and connected without a scan.
    public func remember(_ device: EmulatedDevice) { control(device) { .remember($0) } }
}

extension Emulator {
    /// The host "default".
    public var host: EmulatedHost {
        host(named: "default") ?? EmulatedHost(emulator: self, index: 0)
    }

    /// All hosts, in the order in which they were added.
    public var hosts: [EmulatedHost] {
        (0..<core.withLock { $0.world.hosts.count }).map { EmulatedHost(emulator: self, index: $0) }
    }

    /// The host of that name, nil if there is none.
    public func host(named name: String) -> EmulatedHost? {
        core.withLock { $0.world.hosts.firstIndex { $0.identity.name == name } }
            .map { EmulatedHost(emulator: self, index: $0) }
    }

    /// Adds a host.
    ///
    /// - Throws: ``DescriptionError`` when the name is empty or taken, or a field impossible.
    @discardableResult
    public func add(_ host: HostDescription) throws -> EmulatedHost {
        try host.validate()
        let index = perform { core -> Int? in
            guard !core.world.hosts.contains(where: { $0.identity.name == host.name }) else { return nil }
            core.world.addHost(Host(host))
            core.world.preserveApps(of: host, on: core.world.hosts.count - 1)
            return core.world.hosts.count - 1
        }
        guard let index else { throw DescriptionError("name", "a host has a name of its own, not \"\(host.name)\"") }
        return EmulatedHost(emulator: self, index: index)
    }
}
