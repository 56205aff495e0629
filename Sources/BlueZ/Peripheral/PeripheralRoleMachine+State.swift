#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// The adapter's state, what ends with it, and the devices that come and go.
extension PeripheralRoleMachine {
    mutating func activate(_ manager: HostLedger.Manager) {
        managers[manager] = Manager(applications: ApplicationTree(base: path(of: manager)))
        tell(manager, state)
    }

    mutating func invalidate(_ manager: HostLedger.Manager) {
        guard managers[manager] != nil else { return }
        for (id, request) in requests where request.manager == manager { drop(id, request) }
        closeChannels(of: manager)
        withdrawAll(of: manager)
        managers[manager] = nil
    }

    /// An unknown state is not delivered: the first event is the first definite state.
    private mutating func tell(_ manager: HostLedger.Manager, _ state: AdapterState) {
        guard state != .unknown, managers[manager]?.state != state else { return }
        managers[manager]?.state = state
        deliver(manager, .stateChanged(state))
    }

    // MARK: Daemon and adapter

    mutating func daemonChanged(_ phase: DaemonPhase) {
        let wasDenied = watch.daemon == .denied
        watch.daemonChanged(phase)
        if wasDenied != (phase == .denied) {
            for manager in managers.keys.sorted() {
                deliver(manager, .authorizationChanged(phase == .denied ? .denied : .allowed))
            }
        }
        if phase != .ready {
            expected = [:]
            directory.forgetObjects()
        }
        // The state of a daemon that has just come follows from its snapshot.
        if phase == .ready { startWait() } else { updateState() }
    }

    private mutating func startWait() {
        if let wait = watch.takeWait() { start(.adapterReturn, wait) }
    }

    /// The adapter's properties.
    var adapter: Adapter1? { watch.adapter.flatMap { objects.adapters[$0] } }

    mutating func updateState() {
        watch.choose(among: objects.adapters)
        startWait()
        if watch.adapter != nil { stop(.adapterReturn) }
        noteAddress()
        let new = watch.state(of: objects.adapters)
        guard new != state else { return }
        let old = state
        state = new
        if old == .poweredOn { handlePowerLoss() }
        if new != .poweredOn && new != .poweredOff { publicationsWent() }
        for manager in managers.keys.sorted() { tell(manager, new) }
    }

    private mutating func noteAddress() {
        guard let address = watch.address, address != directoryAddress else { return }
        directoryAddress = address
        directory = newDirectory(of: address)
        for (path, device) in objects.devices where isOurs(path) { directory.log(path, device, isNamed: false) }
    }

    /// What ends with power: centrals, requests, advertising.
    ///
    /// The state's event says so for all of it.
    private mutating func handlePowerLoss() {
        for (id, request) in requests { drop(id, request) }
        for peer in directory.presentPeers {
            let isPaired = directory.path(of: peer).flatMap { objects.devices[$0]?.isPaired } ?? false
            let isBonded = leaving[peer]?.isBonded ?? isPaired
            for path in leaving[peer]?.paths ?? [] where !isBonded { _ = subscriptions.remove(peer, from: path) }
            endSubscriptions(of: peer, isBonded: isBonded)
        }
        for peer in leaving.keys { stop(.leaving(peer)) }
        leaving = [:]
        abortChannels()
        mtus = [:]
        unacknowledged = [:]
        for manager in managers.keys { managers[manager]?.sessions = [:] }
        dropJobsThatNeedPower()
        for manager in managers.keys.sorted() { endAdvertising(of: manager) }
    }

    /// Nothing is published any more, and the app is to publish anew.
    private mutating func publicationsWent() {
        jobs = []
        registration = nil
        isRoundTripPending = false
        forgetCalls()
        for manager in managers.keys.sorted() {
            perform(.withdraw(path(of: manager)))
            for socket in subscriptions.removeAll(below: path(of: manager)) { perform(.close(socket)) }
            let nothing = ApplicationTree(base: path(of: manager))
            managers[manager]?.applications = nothing
            managers[manager]?.advertisement = nil
        }
        subscriptions = Subscriptions()
        unsent = [:]
    }

    // MARK: Devices

    func isOurs(_ path: ObjectPath) -> Bool {
        watch.adapter.map { path.isBelow($0) } ?? false
    }

    mutating func deviceAdded(_ path: ObjectPath) {
        guard isOurs(path), let device = objects.devices[path],
            let peer = directory.log(path, device, isNamed: false)
        else { return }
        let wasConnected = expected.removeValue(forKey: path) != nil
        if device.isConnected != wasConnected { connectedChanged(peer, device) }
    }

    mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes) {
        guard isOurs(path), let device = objects.devices[path] else { return }
        if changes.contains(.address) { directory.log(path, device, isNamed: false) }
        guard let peer = directory.peer(at: path) ?? directory.log(path, device, isNamed: false) else { return }
        if changes.contains(.paired), !device.isPaired { subscriptions.forget(peer) }
        if changes.contains(.connected) { connectedChanged(peer, device) }
    }

    private mutating func connectedChanged(_ peer: PeerID, _ device: Device1) {
        if device.isConnected { centralConnected(peer) } else { centralMayHaveLeft(peer, isBonded: device.isPaired) }
    }

    mutating func deviceRemoved(_ path: ObjectPath, _ device: Device1) {
        let wasConnected = expected.removeValue(forKey: path) != nil || device.isConnected
        guard let peer = directory.peer(at: path) else { return }
        if wasConnected { centralMayHaveLeft(peer, isBonded: false) }
        subscriptions.forget(peer)
        directory.forgetObject(at: path)
    }

    /// The central that a call is about, as its options name it.
    ///
    /// - Returns: nil for an object that is no device of our adapter.
    mutating func central(_ options: [String: DBusValue]) -> PeerID? {
        guard let path = options["device"]?.pathValue, isOurs(path) else { return nil }
        if let known = directory.peer(at: path) { return known }
        // Its signal is still to come; its address is in its path.
        let digits = path.lastElement.dropFirst("dev_".count)
        let address = L2CAPAddress(digits.split(separator: "_").joined(separator: ":"), isRandom: false)
        guard path.lastElement.hasPrefix("dev_"), let address else { return nil }
        return expect(address, at: path)
    }

    /// The central at an address, as the kernel tells it.
    mutating func central(at address: L2CAPAddress) -> PeerID? {
        guard let adapter = watch.adapter else { return nil }
        let known = objects.devices.first { path, device in isOurs(path) && device.address == address.text }
        if let known, let peer = directory.peer(at: known.key) { return peer }
        let path = adapter.appending("dev_" + address.text.split(separator: ":").joined(separator: "_"))
        return directory.peer(at: path) ?? expect(address, at: path)
    }

    /// Notes a central whose connection is still to be told.
    private mutating func expect(_ address: L2CAPAddress, at path: ObjectPath) -> PeerID? {
        let peer = directory.log(path, address.text, isRandom: address.isRandom)
        expected[path] = peer
        return peer
    }
}
#endif
