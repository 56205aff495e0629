#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator

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

    let index: Int
    let path: ObjectPath
    let facts: HostFacts
    var state: State
    var discovery = DiscoverySessions()
    var devices: [PeerID: DaemonDevice] = [:]
    /// The devices, by the paths of their objects.
    var peers: [ObjectPath: PeerID] = [:]
    /// The devices, by the links of the central role.
    var links: [LinkID: PeerID] = [:]
    var applications: Applications
    var advertisements: Advertisements
    var monitors = AdvertisementMonitors()
    var pairing: AdapterPairing

    init(_ facts: HostFacts, index: Int, isPairable: Bool) {
        var facts = facts
        facts.name = ReceivedName.shown(facts.name)
        self.facts = facts
        self.index = index
        path = BluetoothDaemon.root.appending("hci\(index)")
        applications = Applications(adapter: index, path)
        advertisements = Advertisements(adapter: index, path, sets: facts.advertisingSets)
        pairing = AdapterPairing(adapter: index)
        state = State(isPowered: facts.isPowered, alias: facts.name, isPairable: isPairable)
    }
}

extension DaemonAdapter {
    /// Exports the adapter, with the bonded devices of the host.
    mutating func export(_ context: inout DaemonContext) {
        context.tree.add(
            [
                BlueZInterfaces.adapter: properties(context.dialect), BlueZInterfaces.gattManager: [:],
                BlueZInterfaces.advertisingManager: advertisements.managerProperties(context.dialect),
                BlueZInterfaces.monitorManager: AdvertisementMonitors.managerProperties,
            ], at: path)
        if context.configuration.hasBatteryProviders {
            context.tree.add([BlueZInterfaces.batteryProviderManager: [:]], at: path)
        }
        for bond in facts.bonds where devices[bond.peer] == nil { addDevice(bond, &context) }
    }

    private func properties(_ dialect: BlueZDialect) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "Address": .string(facts.address.description),
            "AddressType": .string(facts.address.isRandom ? "random" : "public"),
            "Name": .string(facts.name), "Alias": .string(state.alias), "Class": .uint32(0),
            "Powered": .boolean(state.isPowered), "Discoverable": .boolean(false),
            "DiscoverableTimeout": .uint32(180), "Pairable": .boolean(state.isPairable),
            "PairableTimeout": .uint32(0), "Discovering": .boolean(false),
            "UUIDs": .strings(applications.serviceUUIDs),
            "Modalias": .string(dialect.modalias), "Roles": .strings(["central", "peripheral"]),
        ]
        if dialect >= .bluez5_82 {
            properties["PowerState"] = .string(state.isPowered ? "on" : "off")
            properties["Connectable"] = .boolean(false)
            // Linux Foundation as the manufacturer of a virtual controller; Core Specification 5.4.
            properties["Manufacturer"] = .uint16(0x05F1)
            properties["Version"] = .byte(0x0D)
        }
        return properties
    }

    private func set(_ property: String, _ value: DBusValue, _ context: inout DaemonContext) {
        context.set(property, value, of: BlueZInterfaces.adapter, at: path)
    }

    /// The value of a property; nil if clients see none.
    func shown(_ property: String, _ context: DaemonContext) -> DBusValue? {
        context.tree.properties(of: BlueZInterfaces.adapter, at: path)?[property]
    }

    // MARK: Methods

    mutating func handleCall(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        switch call.member {
        case "StartDiscovery": try startDiscovery(call, &context)
        case "StopDiscovery": try stopDiscovery(call, &context)
        case "SetDiscoveryFilter": try setDiscoveryFilter(call, &context)
        case "GetDiscoveryFilters": context.answer(call.id, [.strings(DiscoveryFilter.keys(context.dialect))])
        case "RemoveDevice": try removeDevice(call, &context)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    mutating func setProperty(
        _ property: String, _ value: DBusValue, for call: ClientCall, _ context: inout DaemonContext
    ) throws(DBusError) {
        switch (property, value) {
        case ("Powered", .boolean(let isOn)): return setPower(isOn, call, &context)
        case ("Alias", .string(let alias)):
            state.alias = alias.isEmpty ? facts.name : alias
            set(property, .string(state.alias), &context)
        case ("Pairable", .boolean(let isPairable)):
            setPairable(isPairable, &context)
        case ("Discoverable", .boolean(let isDiscoverable)):
            guard state.isPowered else { throw BlueZError.failed("Not Powered") }
            setDiscoverable(isDiscoverable, &context)
        default: set(property, value, &context)
        }
        context.answer(call.id)
    }

    mutating func setPairable(_ isPairable: Bool, _ context: inout DaemonContext) {
        state.isPairable = isPairable
        set("Pairable", .boolean(isPairable), &context)
    }

    private mutating func setDiscoverable(_ isDiscoverable: Bool, _ context: inout DaemonContext) {
        set("Discoverable", .boolean(isDiscoverable), &context)
        state.isDiscoverable = isDiscoverable
        state.discoverableNumber += 1
        advertisements.refresh(state, &context)
        let timeout = shown("DiscoverableTimeout", context)?.uint32Value ?? 0
        guard isDiscoverable, timeout > 0 else { return }
        context.output(
            .schedule(
                .discoverableOver(adapter: index, state.discoverableNumber), after: .seconds(Int64(timeout))))
    }

    mutating func discoverableOver(_ number: UInt64, _ context: inout DaemonContext) {
        if state.discoverableNumber == number { setDiscoverable(false, &context) }
    }

    // MARK: Power

    private mutating func setPower(_ isOn: Bool, _ call: ClientCall, _ context: inout DaemonContext) {
        guard state.powerCalls.isEmpty else { return context.refuse(call.id, BlueZError.changing) }
        guard state.isPowered != isOn else { return context.answer(call.id) }
        state.powerCalls.append((call.id, isOn))
        showPowerState(isOn ? "off-enabling" : "on-disabling", &context)
        context.output(.host(adapter: index, .power(isOn)))
    }

    /// Handles a change of the host's power or of the adapter's presence.
    mutating func stateChanged(_ present: AdapterState, _ context: inout DaemonContext) {
        switch present {
        case .poweredOn, .poweredOff:
            let isPowered = present == .poweredOn
            if !state.isPresent {
                state.isPresent = true
                state.isPowered = isPowered
                export(&context)
            } else if state.isPowered != isPowered {
                powerChanged(isPowered, &context)
            }
        case .unsupported:
            // The kernel switches an adapter off before it removes it.
            if state.isPresent, state.isPowered { powerChanged(false, &context) }
            if state.isPresent { withdraw(&context) }
        case .resetting, .unauthorized, .unknown:
            if state.isPresent { withdraw(&context) }
        }
        for (call, isOn) in exchange(&state.powerCalls, with: []) {
            if state.isPresent, state.isPowered == isOn {
                context.answer(call)
            } else {
                context.refuse(call, BlueZError.failed("Failed"))
            }
        }
    }

    private mutating func powerChanged(_ isOn: Bool, _ context: inout DaemonContext) {
        state.isPowered = isOn
        if !isOn { endEverything(&context) }
        set("Powered", .boolean(isOn), &context)
        showPowerState(isOn ? "on" : "off", &context)
        if isOn {
            applications.publish(&context)
            advertisements.refresh(state, &context)
            listen(&context)
        } else {
            applications.powerEnded(&context)
            advertisements.powerEnded(&context)
        }
    }

    private func showPowerState(_ state: String, _ context: inout DaemonContext) {
        if context.dialect >= .bluez5_82 { set("PowerState", .string(state), &context) }
    }

    /// Ends links and discovery, which need power; applications, advertisements and monitors stay.
    private mutating func endEverything(_ context: inout DaemonContext) {
        applications.endSubscriptions(&context)
        for peer in devices.keys.sorted(by: { $0.description < $1.description }) {
            linkLost(peer, .notReady, &context)
            if let path = devices[peer]?.path { monitors.lose(peer, path, &context) }
        }
        endDiscovery(&context)
        if state.discoverableNumber > 0 { setDiscoverable(false, &context) }
    }

    /// Removes the objects of an unplugged adapter, the deepest first.
    private mutating func withdraw(_ context: inout DaemonContext) {
        endEverything(&context)
        state.isPresent = false
        for peer in devices.values.sorted(by: { $0.path < $1.path }).map(\.peer) { forget(peer, &context) }
        applications.withdrawAll(&context)
        advertisements.releaseAll(&context)
        monitors.releaseAll(&context)
        context.removeBatteryProviders(on: index)
        context.remove(path)
        discovery = DiscoverySessions()
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
