public import BluetoothBackend
import BluetoothSupport

/// A host of an emulated world, with controls of its adapter, its permission, its known devices and its other apps.
///
/// The controls of an emulator run in the order of the calls: at once in real time, with the next advance in virtual
/// time.
public struct EmulatedHost: Sendable {
    /// The host's emulator.
    public let emulator: Emulator
    /// The host's index in ``Emulator/hosts``, by which taps report it.
    package let index: Int

    private func control(_ control: HostControl) { emulator.submit(.host(index, control)) }

    /// Submits a control about a device; does nothing if the device was removed.
    private func control(_ device: EmulatedDevice, _ makeControl: (PeerID) -> HostControl) {
        if let peer = device.identifier(onHost: name) { control(makeControl(peer)) }
    }

    /// The name by which managers choose the host.
    public var name: String { emulator.core.withLock { $0.world.lower.hosts[index].identity.name } }

    /// The host's identity address: the one on the air, unless the host rotates addresses.
    public var address: DeviceAddress { emulator.core.withLock { $0.world.lower.hosts[index].identity.address } }

    /// The host's address on the air, by which devices without its keys know it.
    public var airAddress: DeviceAddress { emulator.core.withLock { $0.world.lower.hosts[index].identity.airAddress } }

    /// The port at which a host outside of the emulator attaches, in place of managers; nil for none.
    public var hci: HCIPortAddress? { emulator.core.withLock { $0.world.lower.hosts[index].identity.port } }

    /// Changes to a new resolvable private address; links stay.
    ///
    /// Devices with the host's keys still recognize it; others see a new central and a new peripheral.
    ///
    /// Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    public func rotateAddress() { control(.rotateAddress) }

    /// The state that the host's managers see.
    public var state: AdapterState { emulator.core.withLock { $0.world.lower.hosts[index].adapter.state } }

    /// The device that the host's peripheral managers form on the air, with its proximity and links; nil before the
    /// first peripheral manager.
    ///
    /// Its services and advertisements belong to the managers; controls that would change them do nothing.
    public var peripheral: EmulatedDevice? {
        emulator.core.withLock { $0.world.lower.hosts[index].server }.map {
            EmulatedDevice(emulator: emulator, ref: $0)
        }
    }

    /// Switches the adapter on or off.
    ///
    /// Links end without a `disconnected` event.
    public func setPower(_ isOn: Bool) { control(.power(isOn)) }

    /// Changes the permission: the state is `.unauthorized` if it is denied or restricted, `.unknown` if it is not
    /// determined.
    public func setAuthorization(_ status: AuthorizationStatus) { control(.authorize(status)) }

    /// Adds a feature to the host's adapter, or removes it.
    ///
    /// - Without the peripheral role, peripheral managers are `.unsupported`.
    /// - Without extended scanning, extended advertisements are not received.
    /// - Without L2CAP channels, opening or publishing one fails.
    /// - Without pairing, no agent is asked.
    /// - Without the signal strength of links, reading it fails.
    /// - Without disconnect reasons, the reason is unknown unless this host ends the link.
    public func setSupport(_ feature: BackendFeature, _ isSupported: Bool) {
        control(.setFeature(feature, isSupported))
    }

    /// Grants a connected device access to the host's notifications, or revokes it.
    public func setANCSAuthorized(_ isAuthorized: Bool, for device: EmulatedDevice) {
        control(device) { .authorizeANCS($0, isAuthorized) }
    }

    /// Terminates the app with this restore identifier, as the system does with an app in the background.
    ///
    /// The app's managers receive no further events. Their connections, pending connects, scan, services and
    /// advertising are preserved for the next manager with that identifier. In virtual time, this happens with the next
    /// advance.
    public func terminateApp(restoreIdentifier: String) { control(.terminateApp(restoreIdentifier)) }

    /// Preserves a state for the next central manager with this restore identifier.
    ///
    /// Peers that are linked to the host (see ``connectOtherApp(to:withoutAdvertising:)``) are restored as connected,
    /// others as connecting.
    public func setRestoredState(_ state: RestoredCentralState, for restoreIdentifier: String) {
        control(.preserveCentral(state, restoreIdentifier))
    }

    /// Preserves a state for the next peripheral manager with this restore identifier on this host.
    ///
    /// Its subscriptions are those of the centrals that are connected when the manager is created.
    public func setRestoredState(_ state: RestoredPeripheralState, for restoreIdentifier: String) {
        control(.preservePeripheral(state, restoreIdentifier))
    }

    /// Restarts the system's Bluetooth service; the state is `.resetting` for `duration`.
    public func reset(for duration: Duration = .seconds(1)) { control(.reset(duration)) }

    /// Unplugs the adapter or plugs it in; the state is `.unsupported` while it is unplugged.
    public func setPlugged(_ isPlugged: Bool) { control(.plug(isPlugged)) }

    /// Overrides the adapter's state, regardless of its power, its plug and its permission.
    ///
    /// The state lasts until the next call. This allows states that a test cannot reach otherwise, such as `.unknown`
    /// and `.resetting`. All states except `.poweredOn` end scans and links as ``setPower(_:)`` does; below
    /// `.poweredOff`, nothing stays published.
    ///
    /// - Parameter state: The state; nil derives it from power, plug and permission again.
    public func setState(_ state: AdapterState?) { control(.setState(state)) }

    /// Changes what the advertisements of the host's peripheral managers carry besides the managers' content.
    ///
    /// Advertisements on the air change at once, later ones when they start.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func setAdvertising(_ advertising: HostAdvertising) throws {
        try advertising.validate()
        control(.setAdvertising(advertising))
    }

    /// Limits the ATT MTU of new links, in both roles, to 23...517 bytes.
    ///
    /// A link uses the minimum of this value, ``EmulatorConfiguration/maximumMTU`` and the other side's value.
    ///
    /// - Parameter mtu: The limit; nil removes it.
    public func setMaximumMTU(_ mtu: Int?) {
        control(.setMaximumMTU(mtu.map { min(ATTLimits.maximumMTU, max(ATTLimits.minimumMTU, $0)) }))
    }

    /// Forgets a device that is not connected, as if the host had never seen it.
    public func forget(_ device: EmulatedDevice) { control(device) { .forget($0) } }

    /// Connects a device to another app of this host, whether the host has seen the device or not.
    ///
    /// - Parameters:
    ///   - device: A described device, or the device of another host's managers.
    ///   - withoutAdvertising: Whether the link exists at once if the device is in range, as if made long ago: the host
    ///     waits for no packet, no fault applies, and the device's handler is not asked. Otherwise the device must
    ///     advertise.
    public func connectOtherApp(to device: EmulatedDevice, withoutAdvertising: Bool = false) {
        control(device) { .connectOtherApp($0, withoutAdvertising: withoutAdvertising) }
    }

    /// Releases the other app's connection.
    public func disconnectOtherApp(from device: EmulatedDevice) { control(device) { .disconnectOtherApp($0) } }

    /// Creates a pairing agent for this host, whichever managers it has.
    public func makePairing() -> any PairingBackend { emulator.makePairing(host: index) }

    /// Whether the host has a device's keys.
    public func isBonded(with device: EmulatedDevice) -> Bool {
        emulator.core.withLock { core in
            core.world.lower.air.devices[device.ref].map {
                core.world.security.isBonded(index, with: $0.identity.identityAddress)
            } ?? false
        }
    }

    /// Bonds the host and a device, as if they had paired before.
    public func bond(with device: EmulatedDevice) { control(.bond(device.ref)) }

    /// Deletes the keys of a device, as a user does in the system's settings; their links end.
    public func removeBond(with device: EmulatedDevice) {
        if let device = device.device { control(.removeBond(device.identity.identityAddress)) }
    }

    /// Makes a device known, as if it had been seen: it can be retrieved and connected without a scan.
    public func remember(_ device: EmulatedDevice) { control(device) { .remember($0) } }
}

extension Emulator {
    /// The host "default".
    public var host: EmulatedHost {
        host(named: "default") ?? EmulatedHost(emulator: self, index: 0)
    }

    /// All hosts, in the order of their addition.
    public var hosts: [EmulatedHost] {
        (0..<core.withLock { $0.world.lower.hosts.count }).map { EmulatedHost(emulator: self, index: $0) }
    }

    /// The host with a name; nil if no host has it.
    public func host(named name: String) -> EmulatedHost? {
        core.withLock { $0.world.lower.hosts.firstIndex { $0.identity.name == name } }
            .map { EmulatedHost(emulator: self, index: $0) }
    }

    /// Adds a host.
    ///
    /// - Throws: ``DescriptionError`` if the name is empty or taken, or a field is invalid.
    @discardableResult
    public func add(_ host: HostDescription) throws -> EmulatedHost {
        try host.validate()
        let index = perform { core -> Int? in
            guard !core.world.lower.hosts.contains(where: { $0.identity.name == host.name }) else { return nil }
            core.world.addHost(Host(host))
            core.world.preserveApps(of: host, on: core.world.lower.hosts.count - 1)
            return core.world.lower.hosts.count - 1
        }
        guard let index else { throw DescriptionError("name", "a host has a name of its own, not \"\(host.name)\"") }
        return EmulatedHost(emulator: self, index: index)
    }
}
