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
            adapters = [:]
            devices = [:]
            directory.forgetObjects()
        }
        // The state of a daemon that has just come follows from its snapshot.
        if phase == .ready { startWait() } else { updateState() }
    }

    private mutating func startWait() {
        if let wait = watch.takeWait() { start(.adapterReturn, wait) }
    }

    /// The adapter's properties.
    var adapter: Adapter1? { watch.adapter.flatMap { adapters[$0] } }

    mutating func updateState() {
        watch.choose(among: adapters)
        startWait()
        if watch.adapter != nil { stop(.adapterReturn) }
        noteAddress()
        let new = watch.state(of: adapters)
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
        for (path, device) in devices where isOurs(path) { directory.log(path, device, isNamed: false) }
    }

    /// What ends with power: centrals, requests, advertising.
    ///
    /// The state's event says so for all of it.
    private mutating func handlePowerLoss() {
        for (id, request) in requests { drop(id, request) }
        for (path, device) in devices {
            guard let peer = directory.peer(at: path) else { continue }
            let isBonded = leaving[peer]?.isBonded ?? device.isPaired
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

    // MARK: Objects of the daemon

    mutating func replace(with objects: [ObjectPath: ObjectTree.Interfaces]) {
        adapters = [:]
        for (path, interfaces) in objects { noteAdapter(path, interfaces) }
        for path in devices.keys where objects[path]?[Device1.interface] == nil { deviceRemoved(path) }
        updateState()
        for (path, interfaces) in objects { noteDevice(path, interfaces[Device1.interface], removing: []) }
    }

    mutating func added(_ path: ObjectPath, _ interfaces: ObjectTree.Interfaces) {
        noteAdapter(path, interfaces)
        updateState()
        noteDevice(path, interfaces[Device1.interface], removing: [])
    }

    mutating func removed(_ path: ObjectPath, _ interfaces: [String]) {
        if interfaces.contains(Adapter1.interface) { adapters[path] = nil }
        if interfaces.contains(Device1.interface) { deviceRemoved(path) }
        updateState()
    }

    mutating func changed(
        _ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], _ removed: [String]
    ) {
        if interface == Adapter1.interface {
            _ = adapters[path]?.apply(values, removing: removed)
            updateState()
        } else if interface == Device1.interface, devices[path] != nil {
            noteDevice(path, values, removing: removed)
        }
    }

    private mutating func noteAdapter(_ path: ObjectPath, _ interfaces: ObjectTree.Interfaces) {
        guard let values = interfaces[Adapter1.interface] else { return }
        _ = adapters[path, default: Adapter1()].apply(values)
    }

    // MARK: Devices

    /// What a peripheral needs to know of a central; advertisements are of no use here.
    private static let deviceProperties: Set<String> = ["Address", "AddressType", "Connected", "Paired"]

    func isOurs(_ path: ObjectPath) -> Bool {
        watch.adapter.map { path.isBelow($0) } ?? false
    }

    private mutating func noteDevice(_ path: ObjectPath, _ values: [String: DBusValue]?, removing: [String]) {
        guard let values else { return }
        let known = values.filter { Self.deviceProperties.contains($0.key) }
        guard !known.isEmpty else { return }
        let before = devices[path]
        _ = devices[path, default: Device1()].apply(known)
        guard isOurs(path), let device = devices[path] else { return }
        if known["Address"] != nil || known["AddressType"] != nil { directory.log(path, device, isNamed: false) }
        guard let peer = directory.peer(at: path) ?? directory.log(path, device, isNamed: false) else { return }
        if before?.isPaired == true, !device.isPaired { subscriptions.forget(peer) }
        guard device.isConnected != (before?.isConnected ?? false) else { return }
        if device.isConnected { centralConnected(peer) } else { centralMayHaveLeft(peer, isBonded: device.isPaired) }
    }

    private mutating func deviceRemoved(_ path: ObjectPath) {
        guard let device = devices.removeValue(forKey: path) else { return }
        guard let peer = directory.peer(at: path) else { return }
        if device.isConnected { centralMayHaveLeft(peer, isBonded: false) }
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
        let known = devices.first { path, device in isOurs(path) && device.address == address.text }
        if let known, let peer = directory.peer(at: known.key) { return peer }
        let path = adapter.appending("dev_" + address.text.split(separator: ":").joined(separator: "_"))
        return directory.peer(at: path) ?? expect(address, at: path)
    }

    /// Notes a central whose signal is still to come.
    private mutating func expect(_ address: L2CAPAddress, at path: ObjectPath) -> PeerID? {
        var device = Device1()
        let type = address.isRandom ? "random" : "public"
        _ = device.apply([
            "Address": .string(address.text), "AddressType": .string(type), "Connected": .boolean(true),
        ])
        devices[path] = device
        return directory.log(path, device, isNamed: false)
    }
}
#endif
