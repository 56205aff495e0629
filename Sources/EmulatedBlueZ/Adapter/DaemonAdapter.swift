#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// An adapter of an emulated daemon: a host of the world, with the sessions that clients have on it.
struct DaemonAdapter: Sendable {
    /// The properties of the adapter, and the changes that are pending.
    struct State: Sendable {
        /// Whether the adapter is exported; false if it is unplugged or resetting.
        var isPresent = true
        var isPowered: Bool
        var alias: String
        var isPairable: Bool
        var isDiscoverable = false
        /// A number that grows with each change of `Discoverable`, so that an earlier timeout has no effect.
        var discoverableNumber: UInt64 = 0
        /// The calls that wait for the adapter's power to change.
        var powerCalls: [(call: ClientCallID, isOn: Bool)] = []
    }

    /// The links of the central role, and the requests on them that have no response yet.
    struct LinkTable: Sendable {
        var links: [LinkID: PeerID] = [:]
        var operations: [OperationID: (peer: PeerID, purpose: LinkPurpose)] = [:]
    }

    let index: Int
    let path: ObjectPath
    let facts: HostFacts
    var state: State
    var discovery = DiscoverySessions()
    var devices: [PeerID: DaemonDevice] = [:]
    /// The devices, by the paths of their objects.
    var peers: [ObjectPath: PeerID] = [:]
    var linkTable = LinkTable()
    var applications = Applications()
    var advertisements = Advertisements()
    var monitors = AdvertisementMonitors()
    var pairing = AdapterPairing()

    init(_ facts: HostFacts, index: Int, isPairable: Bool) {
        var facts = facts
        facts.name = ReceivedName.shown(facts.name)
        self.facts = facts
        self.index = index
        path = BluetoothDaemon.root.appending("hci\(index)")
        state = State(isPowered: facts.isPowered, alias: facts.name, isPairable: isPairable)
    }

    /// The UUIDs of Generic Access, Generic Attribute and the applications' services, each with all 128 bits.
    var serviceUUIDs: [String] {
        let own = [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]
        let served = applications.all.values.flatMap(\.services).map(\.definition.uuid)
        return Set((own + served).map(\.bluez)).sorted()
    }
}

extension BluetoothDaemon {
    /// Exports a host as an adapter, with its bonded devices.
    mutating func addAdapter(_ facts: HostFacts) {
        adapters.append(DaemonAdapter(facts, index: adapters.count, isPairable: hasAgent))
        export(adapters.count - 1)
        showCapability()
    }

    private mutating func export(_ index: Int) {
        let adapter = adapters[index]
        tree.add(
            [
                BlueZInterfaces.adapter: properties(of: adapter), BlueZInterfaces.gattManager: [:],
                BlueZInterfaces.advertisingManager: advertisingManagerProperties(of: adapter),
                BlueZInterfaces.monitorManager: monitorManagerProperties,
            ], at: adapter.path)
        if hasBatteryProviders { tree.add([BlueZInterfaces.batteryProviderManager: [:]], at: adapter.path) }
        for bond in adapter.facts.bonds where adapters[index].devices[bond.peer] == nil {
            addDevice(bond, on: index)
        }
    }

    private func properties(of adapter: DaemonAdapter) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "Address": .string(adapter.facts.address),
            "AddressType": .string(adapter.facts.isRandomAddress ? "random" : "public"),
            "Name": .string(adapter.facts.name), "Alias": .string(adapter.state.alias), "Class": .uint32(0),
            "Powered": .boolean(adapter.state.isPowered), "Discoverable": .boolean(false),
            "DiscoverableTimeout": .uint32(180), "Pairable": .boolean(adapter.state.isPairable),
            "PairableTimeout": .uint32(0), "Discovering": .boolean(false),
            "UUIDs": .strings(adapter.serviceUUIDs),
            "Modalias": .string(dialect.modalias), "Roles": .strings(["central", "peripheral"]),
        ]
        if dialect >= .bluez5_82 {
            properties["PowerState"] = .string(adapter.state.isPowered ? "on" : "off")
            properties["Connectable"] = .boolean(false)
            // Linux Foundation as the manufacturer of a virtual controller; Core Specification 5.4.
            properties["Manufacturer"] = .uint16(0x05F1)
            properties["Version"] = .byte(0x0D)
        }
        return properties
    }

    // MARK: Methods

    mutating func handleCall(_ call: ClientCall, ofAdapter index: Int) throws(DBusError) {
        switch call.member {
        case "StartDiscovery": try startDiscovery(call, on: index)
        case "StopDiscovery": try stopDiscovery(call, on: index)
        case "SetDiscoveryFilter": try setDiscoveryFilter(call, on: index)
        case "GetDiscoveryFilters": answer(call.id, [.strings(DiscoveryFilter.keys(dialect))])
        case "RemoveDevice": try removeDevice(call, on: index)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    mutating func setAdapterProperty(
        _ property: String, _ value: DBusValue, of index: Int, _ call: ClientCall
    ) throws(DBusError) {
        let path = adapters[index].path
        switch (property, value) {
        case ("Powered", .boolean(let isOn)): return setPower(isOn, of: index, call)
        case ("Alias", .string(let alias)):
            adapters[index].state.alias = alias.isEmpty ? adapters[index].facts.name : alias
            set(property, .string(adapters[index].state.alias), of: BlueZInterfaces.adapter, at: path)
        case ("Pairable", .boolean(let isPairable)):
            adapters[index].state.isPairable = isPairable
            set(property, value, of: BlueZInterfaces.adapter, at: path)
        case ("Discoverable", .boolean(let isDiscoverable)):
            guard adapters[index].state.isPowered else { throw BlueZError.failed("Not Powered") }
            setDiscoverable(isDiscoverable, index)
        default: set(property, value, of: BlueZInterfaces.adapter, at: path)
        }
        answer(call.id)
    }

    /// Updates the UUIDs of the adapter after its services have changed.
    mutating func showServices(of index: Int) {
        set(
            "UUIDs", .strings(adapters[index].serviceUUIDs), of: BlueZInterfaces.adapter, at: adapters[index].path)
    }

    private mutating func setDiscoverable(_ isDiscoverable: Bool, _ index: Int) {
        let path = adapters[index].path
        set("Discoverable", .boolean(isDiscoverable), of: BlueZInterfaces.adapter, at: path)
        adapters[index].state.isDiscoverable = isDiscoverable
        adapters[index].state.discoverableNumber += 1
        refreshAdvertisements(on: index)
        let timeout = tree.properties(of: BlueZInterfaces.adapter, at: path)?["DiscoverableTimeout"]?.uint32Value ?? 0
        guard isDiscoverable, timeout > 0 else { return }
        output(
            .schedule(
                .discoverableOver(adapter: index, adapters[index].state.discoverableNumber),
                after: .seconds(Int64(timeout))))
    }

    mutating func discoverableOver(_ index: Int, _ number: UInt64) {
        if adapters[index].state.discoverableNumber == number { setDiscoverable(false, index) }
    }

    // MARK: Power

    private mutating func setPower(_ isOn: Bool, of index: Int, _ call: ClientCall) {
        guard adapters[index].state.powerCalls.isEmpty else { return refuse(call.id, BlueZError.changing) }
        guard adapters[index].state.isPowered != isOn else { return answer(call.id) }
        adapters[index].state.powerCalls.append((call.id, isOn))
        showPowerState(isOn ? "off-enabling" : "on-disabling", of: index)
        output(.host(adapter: index, .power(isOn)))
    }

    /// Handles a change of the host's power or of the adapter's presence.
    mutating func stateChanged(_ state: AdapterState, on index: Int) {
        switch state {
        case .poweredOn, .poweredOff:
            if !adapters[index].state.isPresent {
                adapters[index].state.isPresent = true
                adapters[index].state.isPowered = state == .poweredOn
                export(index)
            } else if adapters[index].state.isPowered != (state == .poweredOn) {
                powerChanged(state == .poweredOn, on: index)
            }
        case .resetting, .unsupported, .unauthorized, .unknown:
            if adapters[index].state.isPresent { withdraw(index) }
        }
        let waiting = adapters[index].state.powerCalls
        adapters[index].state.powerCalls = []
        for (call, isOn) in waiting {
            if adapters[index].state.isPresent, adapters[index].state.isPowered == isOn {
                answer(call)
            } else {
                refuse(call, BlueZError.failed("Failed"))
            }
        }
    }

    private mutating func powerChanged(_ isOn: Bool, on index: Int) {
        adapters[index].state.isPowered = isOn
        let path = adapters[index].path
        if !isOn { endEverything(on: index) }
        set("Powered", .boolean(isOn), of: BlueZInterfaces.adapter, at: path)
        showPowerState(isOn ? "on" : "off", of: index)
        if isOn {
            publishApplications(on: index)
            refreshAdvertisements(on: index)
            listen(on: index)
        } else {
            answerApplications(on: index)
            refuseAdvertisements(on: index)
        }
    }

    private mutating func showPowerState(_ state: String, of index: Int) {
        guard dialect >= .bluez5_82 else { return }
        set("PowerState", .string(state), of: BlueZInterfaces.adapter, at: adapters[index].path)
    }

    /// Ends links and discovery, which need power; applications, advertisements and monitors stay.
    private mutating func endEverything(on index: Int) {
        endSubscriptions(on: index)
        for peer in adapters[index].devices.keys.sorted(by: { $0.description < $1.description }) {
            linkLost(peer, on: index, .notReady)
            if let path = adapters[index].devices[peer]?.path { monitorsLose(peer, path, on: index) }
        }
        endDiscovery(on: index)
        if adapters[index].state.discoverableNumber > 0 { setDiscoverable(false, index) }
    }

    /// Removes the objects of an unplugged adapter, the deepest first.
    private mutating func withdraw(_ index: Int) {
        endEverything(on: index)
        adapters[index].state.isPresent = false
        for device in adapters[index].devices.values.sorted(by: { $0.path < $1.path }) {
            removeObjects(of: device.peer, on: index)
        }
        withdrawApplications(on: index)
        releaseAdvertisements(on: index)
        releaseMonitors(on: index)
        removeBatteryProviders(on: index)
        remove(adapters[index].path)
        adapters[index].discovery = DiscoverySessions()
    }
}

extension BlueZDialect {
    /// The device identification of this version: vendor 1D6B (Linux Foundation), product 0246.
    var modalias: String {
        switch self {
        case .bluez5_66: "usb:v1D6Bp0246d0542"
        case .bluez5_82: "usb:v1D6Bp0246d0552"
        case .bluez5_87: "usb:v1D6Bp0246d0557"
        }
    }
}
#endif
