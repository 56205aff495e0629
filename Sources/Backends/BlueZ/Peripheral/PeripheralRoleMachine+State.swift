#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// The adapter's state, and devices that are added and removed.
extension PeripheralRoleMachine {
    mutating func activate(_ manager: HostLedger.Manager) {
        managers[manager] = Manager(applications: ApplicationTree(base: path(of: manager)))
        deliverState(to: manager)
    }

    mutating func invalidate(_ manager: HostLedger.Manager) {
        guard managers[manager] != nil else { return }
        for (id, request) in requests where request.manager == manager { drop(id, request) }
        closeChannels(of: manager)
        withdrawAll(of: manager)
        managers[manager] = nil
    }

    // MARK: Daemon and adapter

    /// The adapter's properties.
    var adapter: Adapter1? { watch.adapter.flatMap { objects.adapters[$0] } }

    mutating func updateState() {
        guard let old = changeState() else { return }
        if old == .poweredOn { handlePowerLoss() }
        if state != .poweredOn && state != .poweredOff { publicationsWent() }
        for manager in managers.keys.sorted() { deliverState(to: manager) }
    }

    /// Ends everything that needs power: centrals, requests, advertising.
    ///
    /// The state event reports it.
    private mutating func handlePowerLoss() {
        for (id, request) in requests { drop(id, request) }
        for peer in directory.presentPeers {
            let isPaired = directory.path(of: peer).flatMap { objects.devices[$0]?.isPaired } ?? false
            let isBonded = centrals.leaving[peer]?.isBonded ?? isPaired
            for path in centrals.leaving[peer]?.paths ?? [] where !isBonded {
                _ = subscriptions.remove(peer, from: path)
            }
            endSubscriptions(of: peer, isBonded: isBonded)
        }
        for peer in centrals.leaving.keys { stop(.leaving(peer)) }
        centrals.leaving = [:]
        stopListening()
        abortChannels()
        centrals.mtus = [:]
        credits.forgetBroadcasts()
        for manager in managers.keys { managers[manager]?.sessions = [:] }
        dropJobsThatNeedPower()
        for manager in managers.keys.sorted() { endAdvertising(of: manager) }
    }

    /// Discards all publications, because the daemon or the adapter is gone; the app must publish again.
    private mutating func publicationsWent() {
        registrations = RegistrationQueue()
        credits = CreditLedger()
        outputs.calls.removeAll()
        stopTimers()
        for manager in managers.keys.sorted() {
            perform(.withdraw(path(of: manager)))
            for socket in subscriptions.removeAll(below: path(of: manager)) { perform(.close(socket)) }
            let nothing = ApplicationTree(base: path(of: manager))
            managers[manager]?.applications = nothing
            managers[manager]?.advertisement = nil
        }
        subscriptions = Subscriptions()
    }

    // MARK: Devices

    mutating func deviceAdded(_ path: ObjectPath) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        let wasConnected = centrals.expected.removeValue(forKey: path) != nil
        if device.isConnected != wasConnected { connectedChanged(peer, device) }
    }

    mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        if changes.contains(.paired), !device.isPaired { subscriptions.forget(peer) }
        if changes.contains(.connected) { connectedChanged(peer, device) }
    }

    private mutating func connectedChanged(_ peer: PeerID, _ device: Device1) {
        if device.isConnected { centralConnected(peer) } else { centralMayHaveLeft(peer, isBonded: device.isPaired) }
    }

    mutating func deviceRemoved(_ path: ObjectPath, _ device: Device1, _ peer: PeerID) {
        let wasConnected = centrals.expected.removeValue(forKey: path) != nil || device.isConnected
        guard isOurs(path) else { return }
        if wasConnected { centralMayHaveLeft(peer, isBonded: false) }
        subscriptions.forget(peer)
    }

    /// Returns the central that the options of a call name.
    ///
    /// - Returns: nil for an object that is not a device of this role's adapter.
    mutating func central(_ options: [String: DBusValue]) -> PeerID? {
        guard let path = options["device"]?.pathValue, isOurs(path) else { return nil }
        if let known = directory.peer(at: path) { return known }
        // The signal of the device is yet to come; its path contains its address.
        let digits = path.lastElement.dropFirst("dev_".count)
        let address = L2CAPAddress(digits.split(separator: "_").joined(separator: ":"), isRandom: false)
        guard path.lastElement.hasPrefix("dev_"), let address else { return nil }
        return expect(address, at: path)
    }

    /// Returns the central at an address that the kernel reports.
    mutating func central(at address: L2CAPAddress) -> PeerID? {
        guard let adapter = watch.adapter else { return nil }
        let known = objects.devices.first { path, device in isOurs(path) && device.address == address.text }
        if let known, let peer = directory.peer(at: known.key) { return peer }
        let path = adapter.appending("dev_" + address.text.split(separator: ":").joined(separator: "_"))
        return directory.peer(at: path) ?? expect(address, at: path)
    }

    /// Records a central whose connection is yet to be reported.
    private mutating func expect(_ address: L2CAPAddress, at path: ObjectPath) -> PeerID? {
        let peer = directory.log(path, address.text, isRandom: address.isRandom)
        centrals.expected[path] = peer
        return peer
    }
}
#endif
