#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

/// The advertisements that clients registered on an adapter.
struct Advertisements: Sendable {
    static let interface = "org.bluez.LEAdvertisement1"

    struct Registered: Sendable {
        let object: ClientObject
        /// The call that waits for the first packet.
        var call: ClientCallID?
        var properties: AdvertisementProperties?
        /// The number of the advertisement on the adapter, from 1.
        var instance: UInt8
        /// Whether the client exports a property for the number.
        var hasInstance = false
        /// Whether the time for which the advertisement is discoverable is over.
        var isHidden = false
        /// The connected central whose link ended the set on the controller; nil while the set is on the air.
        var endedBy: PeerID?
        var end = Limit()
        var hiding = Limit()
    }

    /// A time limit that the client sets, and the number of its timer; an earlier timer has no effect.
    struct Limit: Sendable {
        var after: Duration?
        var number: UInt64 = 0
    }

    private let adapter: Int
    /// The path of the adapter.
    private let path: ObjectPath
    /// The number of advertisements that can be on the air at a time.
    private let sets: Int
    private var all: [AdvertisementID: Registered] = [:]

    init(adapter: Int, _ path: ObjectPath, sets: Int) { (self.adapter, self.path, self.sets) = (adapter, path, sets) }

    private func id(of object: ClientObject) -> AdvertisementID? { all.first { $0.value.object == object }?.key }

    /// The smallest number that no advertisement uses.
    private var freeInstance: UInt8 {
        let taken = Set(all.values.map(\.instance))
        return (1...UInt8.max).first { !taken.contains($0) } ?? .max
    }

    /// The advertisements in the order of registration.
    private var ids: [AdvertisementID] { all.keys.sorted { $0.rawValue < $1.rawValue } }
}

extension Advertisements {
    /// The properties of the manager's interface when the adapter appears.
    func managerProperties(_ dialect: BlueZDialect) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "ActiveInstances": .byte(0), "SupportedInstances": .byte(UInt8(clamping: sets)),
            "SupportedIncludes": .strings(["tx-power", "appearance", "local-name"]),
        ]
        if dialect >= .bluez5_82 {
            properties["SupportedSecondaryChannels"] = .strings(["1M", "2M", "Coded"])
            properties["SupportedFeatures"] = .strings([])
            properties["SupportedCapabilities"] = .properties(["MaxAdvLen": .byte(31), "MaxScnRspLen": .byte(31)])
        }
        return properties
    }

    mutating func handle(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        let object = try call.namedObject()
        let known = id(of: object)
        guard call.member == "RegisterAdvertisement" else {
            guard let known else { throw BlueZError.doesNotExist }
            remove(known, &context)
            return context.answer(call.id)
        }
        guard known == nil else { throw BlueZError.alreadyExists }
        guard all.count < sets else {
            throw BlueZError.notPermitted("Maximum advertisements reached")
        }
        let id = AdvertisementID(rawValue: context.nextNumber())
        all[id] = Registered(object: object, call: call.id, instance: freeInstance)
        context.output(.watch(client: call.sender))
        readProperties(of: id, for: call.id, &context)
    }

    private func readProperties(of id: AdvertisementID, for call: ClientCallID?, _ context: inout DaemonContext) {
        guard let registered = all[id] else { return }
        context.request(
            .advertisement(adapter: adapter, id, call), of: registered.object, StandardInterface.properties.name,
            "GetAll", [.string(Self.interface)])
    }

    private static let notRegistered = BlueZError.failed("Failed to register advertisement")

    mutating func propertiesRead(
        _ id: AdvertisementID, _ result: Result<[DBusValue], DBusError>, for call: ClientCallID?,
        _ state: DaemonAdapter.State, _ context: inout DaemonContext
    ) {
        guard all[id] != nil else { return }
        do throws(DBusError) {
            // A client that does not list the properties has no properties.
            let properties = (try? result.get())?.first?.propertiesValue ?? [:]
            let parsed = try AdvertisementProperties(properties, context.dialect)
            // The kernel refuses an advertisement that does not fit, and every one while the power is off: Linux,
            // net/bluetooth/mgmt.c, add_ext_adv_data and add_ext_adv_params.
            guard state.isPowered, advertisement(parsed, isHidden: false, state, context.dialect) != nil else {
                throw Self.notRegistered
            }
            all[id]?.properties = parsed
            all[id]?.endedBy = nil
            all[id]?.hasInstance = properties["Instance"] != nil
            if call != nil { context.output(.openAdvertiser(adapter: adapter, id)) }
            startTimers(of: id, &context)
            send(id, state, &context)
        } catch {
            // After a refused change, the old packets stay on the air.
            guard let call else { return }
            all[id] = nil
            context.refuse(call, error)
        }
    }

    private func advertisement(
        _ properties: AdvertisementProperties, isHidden: Bool, _ state: DaemonAdapter.State, _ dialect: BlueZDialect
    ) -> Advertisement? {
        properties.advertisement(
            alias: state.alias, isDiscoverable: state.isDiscoverable, isHidden: isHidden, dialect)
    }

    /// Sends an advertisement; one that no longer fits, because its adapter became discoverable, stays as it is.
    private func send(_ id: AdvertisementID, _ state: DaemonAdapter.State, _ context: inout DaemonContext) {
        guard let registered = all[id], registered.endedBy == nil, let properties = registered.properties,
            let advertisement = advertisement(properties, isHidden: registered.isHidden, state, context.dialect)
        else { return }
        let operation = context.nextOperation()
        context.output(
            .advertiser(adapter: adapter, id, .startAdvertising(operation: operation, advertisement: advertisement)))
    }

    /// Sends the advertisements again after a change of the adapter's flags, which they contain.
    func refresh(_ state: DaemonAdapter.State, _ context: inout DaemonContext) {
        guard state.isPowered else { return }
        for id in ids { send(id, state, &context) }
    }

    /// Starts the timers for the time limits that a client set or changed.
    private mutating func startTimers(of id: AdvertisementID, _ context: inout DaemonContext) {
        guard let registered = all[id], let properties = registered.properties else { return }
        if registered.end.after != properties.timeout {
            let limit = Limit(after: properties.timeout, number: context.nextNumber())
            all[id]?.end = limit
            if let time = limit.after {
                context.output(.schedule(.advertisementOver(adapter: adapter, id, limit.number), after: time))
            }
        }
        if registered.hiding.after != properties.discoverableTimeout {
            let limit = Limit(after: properties.discoverableTimeout, number: context.nextNumber())
            all[id]?.hiding = limit
            all[id]?.isHidden = false
            if let time = limit.after {
                context.output(.schedule(.advertisementHidden(adapter: adapter, id, limit.number), after: time))
            }
        }
    }

    mutating func handle(_ event: PeripheralEvent, of id: AdvertisementID, _ context: inout DaemonContext) {
        guard let registered = all[id] else { return }
        switch event {
        case .advertisingStarted:
            guard let call = registered.call else { return }
            all[id]?.call = nil
            showInstances(&context)
            tellInstance(of: registered, &context)
            context.answer(call)
        case .operationFailed:
            all[id] = nil
            context.output(.closeAdvertiser(adapter: adapter, id))
            if let call = registered.call { context.refuse(call, Self.notRegistered) }
        default: break
        }
    }

    /// Sets the property `Instance` of a client that exports it.
    ///
    /// Source: BlueZ, `doc/org.bluez.LEAdvertisement.rst`, of 5.87.
    private func tellInstance(of registered: Registered, _ context: inout DaemonContext) {
        guard registered.hasInstance, context.dialect >= .bluez5_87 else { return }
        context.request(
            .ignored, of: registered.object, StandardInterface.properties.name, "Set",
            [.string(Self.interface), .string("Instance"), .variant(.byte(registered.instance))])
    }

    private func showInstances(_ context: inout DaemonContext) {
        let count = all.values.count { $0.call == nil }
        context.set("ActiveInstances", .byte(UInt8(clamping: count)), of: BlueZInterfaces.advertisingManager, at: path)
        context.set(
            "SupportedInstances", .byte(UInt8(clamping: sets - count)),
            of: BlueZInterfaces.advertisingManager, at: path)
    }

    // MARK: Centrals

    /// Takes a set off the air, because a central has connected to it: a controller with extended advertising ends it, and
    /// Linux enables it again when the link ends, or the client changes the advertisement.
    ///
    /// If several sets are connectable, this one is the oldest of them. With legacy advertising, Linux enables it at once.
    ///
    /// Source: Linux, `net/bluetooth/hci_event.c`, `hci_le_ext_adv_term_evt` and `hci_disconn_complete_evt`.
    mutating func centralConnected(_ peer: PeerID, _ context: inout DaemonContext) {
        guard context.dialect >= .bluez5_82,
            let id = ids.first(where: { all[$0]?.properties?.kind == .peripheral && all[$0]?.endedBy == nil })
        else { return }
        all[id]?.endedBy = peer
        context.output(.advertiser(adapter: adapter, id, .stopAdvertising))
    }

    mutating func centralDisconnected(
        _ peer: PeerID, _ state: DaemonAdapter.State, _ context: inout DaemonContext
    ) {
        for id in ids where all[id]?.endedBy == peer {
            all[id]?.endedBy = nil
            if state.isPowered { send(id, state, &context) }
        }
    }

    // MARK: Changes and ends

    /// Reads an advertisement whose properties the client has changed.
    func changed(_ signal: ClientSignal, _ context: inout DaemonContext) {
        if let id = id(of: signal.object) { readProperties(of: id, for: nil, &context) }
    }

    private mutating func remove(_ id: AdvertisementID, isReleased: Bool = false, _ context: inout DaemonContext) {
        guard let registered = all.removeValue(forKey: id) else { return }
        if registered.properties != nil { context.output(.closeAdvertiser(adapter: adapter, id)) }
        if let call = registered.call { context.refuse(call, BlueZError.failed("Failed to complete registration")) }
        showInstances(&context)
        if isReleased { context.request(.ignored, of: registered.object, Self.interface, "Release") }
    }

    mutating func timeIsOver(_ id: AdvertisementID, _ number: UInt64, _ context: inout DaemonContext) {
        if all[id]?.end.number == number { remove(id, isReleased: true, &context) }
    }

    mutating func hide(
        _ id: AdvertisementID, _ number: UInt64, _ state: DaemonAdapter.State, _ context: inout DaemonContext
    ) {
        guard all[id]?.hiding.number == number else { return }
        all[id]?.isHidden = true
        if state.isPowered { send(id, state, &context) }
    }

    mutating func forget(_ client: String, _ context: inout DaemonContext) {
        for id in ids where all[id]?.object.client == client { remove(id, &context) }
    }

    /// Refuses the advertisements that are not on the air when the power ends; the others return with the power.
    mutating func powerEnded(_ context: inout DaemonContext) {
        for id in ids where all[id]?.call != nil { remove(id, &context) }
    }

    /// Releases all advertisements of an adapter that is gone.
    mutating func releaseAll(_ context: inout DaemonContext) {
        for id in ids { remove(id, isReleased: true, &context) }
    }
}
#endif
