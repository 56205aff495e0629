#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

/// The advertisements that clients registered on an adapter.
struct Advertisements: Sendable {
    static let interface = "org.bluez.LEAdvertisement1"

    struct Registered: Sendable {
        let client: String
        let path: ObjectPath
        /// The call that waits for the first packet.
        var call: ClientCallID?
        var properties: AdvertisementProperties?
        /// The number of the advertisement on the adapter, from 1.
        var instance: UInt8
        /// Whether the client exports a property for the number.
        var hasInstance = false
        /// Whether the time for which the advertisement is discoverable is over.
        var isHidden = false
        var end = Limit()
        var hiding = Limit()
    }

    /// A time limit that the client sets, and the number of its timer; an earlier timer has no effect.
    struct Limit: Sendable {
        var after: Duration?
        var number: UInt64 = 0
    }

    var all: [AdvertisementID: Registered] = [:]

    func id(of path: ObjectPath, _ client: String) -> AdvertisementID? {
        all.first { $0.value.path == path && $0.value.client == client }?.key
    }

    /// The smallest number that no advertisement uses.
    var freeInstance: UInt8 {
        let taken = Set(all.values.map(\.instance))
        return (1...UInt8.max).first { !taken.contains($0) } ?? .max
    }

    /// The advertisements in the order of registration.
    var ids: [AdvertisementID] { all.keys.sorted { $0.rawValue < $1.rawValue } }
}

extension BluetoothDaemon {
    func advertisingManagerProperties(of adapter: DaemonAdapter) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "ActiveInstances": .byte(0), "SupportedInstances": .byte(UInt8(clamping: adapter.facts.advertisingSets)),
            "SupportedIncludes": .strings(["tx-power", "appearance", "local-name"]),
        ]
        if dialect >= .bluez5_82 {
            properties["SupportedSecondaryChannels"] = .strings(["1M", "2M", "Coded"])
            properties["SupportedFeatures"] = .strings([])
            properties["SupportedCapabilities"] = .properties(["MaxAdvLen": .byte(31), "MaxScnRspLen": .byte(31)])
        }
        return properties
    }

    mutating func handleAdvertisingCall(_ call: ClientCall, on index: Int) throws(DBusError) {
        guard let path = call.arguments.first?.pathValue else { throw BlueZError.invalidArguments }
        let known = adapters[index].advertisements.id(of: path, call.sender)
        guard call.member == "RegisterAdvertisement" else {
            guard let known else { throw BlueZError.doesNotExist }
            removeAdvertisement(known, on: index)
            return answer(call.id)
        }
        guard known == nil else { throw BlueZError.alreadyExists }
        guard adapters[index].advertisements.all.count < adapters[index].facts.advertisingSets else {
            throw BlueZError.notPermitted("Maximum advertisements reached")
        }
        let id = AdvertisementID(rawValue: nextNumber())
        adapters[index].advertisements.all[id] = Advertisements.Registered(
            client: call.sender, path: path, call: call.id,
            instance: adapters[index].advertisements.freeInstance)
        output(.watch(client: call.sender))
        readAdvertisement(id, for: call.id, on: index)
    }

    private mutating func readAdvertisement(_ id: AdvertisementID, for call: ClientCallID?, on index: Int) {
        guard let registered = adapters[index].advertisements.all[id] else { return }
        request(
            .advertisement(adapter: index, id, call), of: registered.client, registered.path,
            StandardInterface.properties.name, "GetAll", [.string(Advertisements.interface)],
            deadline: configuration.applicationDeadline)
    }

    private static let notRegistered = BlueZError.failed("Failed to register advertisement")

    mutating func advertisementRead(
        _ id: AdvertisementID, _ result: Result<[DBusValue], DBusError>, _ call: ClientCallID?, on index: Int
    ) {
        guard adapters[index].advertisements.all[id] != nil else { return }
        do throws(DBusError) {
            // A client that does not list the properties has no properties.
            let properties = (try? result.get())?.first?.propertiesValue ?? [:]
            let parsed = try AdvertisementProperties(properties, dialect)
            // The kernel refuses an advertisement that does not fit, and every one while the power is off: Linux,
            // net/bluetooth/mgmt.c, add_ext_adv_data and add_ext_adv_params.
            guard advertisement(parsed, isHidden: false, on: index) != nil, adapters[index].state.isPowered else {
                throw Self.notRegistered
            }
            adapters[index].advertisements.all[id]?.properties = parsed
            adapters[index].advertisements.all[id]?.hasInstance = properties["Instance"] != nil
            if call != nil { output(.openAdvertiser(adapter: index, id)) }
            limitAdvertisement(id, on: index)
            sendAdvertisement(id, on: index)
        } catch {
            // After a refused change, the old packets stay on the air.
            guard let call else { return }
            adapters[index].advertisements.all[id] = nil
            refuse(call, error)
        }
    }

    private func advertisement(
        _ properties: AdvertisementProperties, isHidden: Bool, on index: Int
    ) -> Advertisement? {
        let state = adapters[index].state
        return properties.advertisement(
            alias: state.alias, isDiscoverable: state.isDiscoverable, isHidden: isHidden, dialect)
    }

    /// Sends an advertisement; one that no longer fits, because its adapter became discoverable, stays as it is.
    private mutating func sendAdvertisement(_ id: AdvertisementID, on index: Int) {
        guard let registered = adapters[index].advertisements.all[id], let properties = registered.properties,
            let advertisement = advertisement(properties, isHidden: registered.isHidden, on: index)
        else { return }
        output(
            .advertiser(
                adapter: index, id, .startAdvertising(operation: nextOperation(), advertisement: advertisement)))
    }

    /// Sends the advertisements again after a change of the adapter's flags, which they contain.
    mutating func refreshAdvertisements(on index: Int) {
        guard adapters[index].state.isPowered else { return }
        for id in adapters[index].advertisements.ids { sendAdvertisement(id, on: index) }
    }

    /// Starts the timers for the time limits that a client set or changed.
    private mutating func limitAdvertisement(_ id: AdvertisementID, on index: Int) {
        guard let registered = adapters[index].advertisements.all[id], let properties = registered.properties else {
            return
        }
        if registered.end.after != properties.timeout {
            let limit = Advertisements.Limit(after: properties.timeout, number: nextNumber())
            adapters[index].advertisements.all[id]?.end = limit
            if let time = limit.after {
                output(.schedule(.advertisementOver(adapter: index, id, limit.number), after: time))
            }
        }
        if registered.hiding.after != properties.discoverableTimeout {
            let limit = Advertisements.Limit(after: properties.discoverableTimeout, number: nextNumber())
            adapters[index].advertisements.all[id]?.hiding = limit
            adapters[index].advertisements.all[id]?.isHidden = false
            if let time = limit.after {
                output(.schedule(.advertisementHidden(adapter: index, id, limit.number), after: time))
            }
        }
    }

    mutating func handle(_ event: PeripheralEvent, of id: AdvertisementID, on index: Int) {
        guard let registered = adapters[index].advertisements.all[id] else { return }
        switch event {
        case .advertisingStarted:
            guard let call = registered.call else { return }
            adapters[index].advertisements.all[id]?.call = nil
            showInstances(on: index)
            tellInstance(of: registered)
            answer(call)
        case .operationFailed:
            adapters[index].advertisements.all[id] = nil
            output(.closeAdvertiser(adapter: index, id))
            if let call = registered.call { refuse(call, Self.notRegistered) }
        default: break
        }
    }

    /// Sets the property `Instance` of a client that exports it.
    ///
    /// Source: BlueZ, `doc/org.bluez.LEAdvertisement.rst`, of 5.87.
    private mutating func tellInstance(of registered: Advertisements.Registered) {
        guard registered.hasInstance, dialect >= .bluez5_87 else { return }
        request(
            .ignored, of: registered.client, registered.path, StandardInterface.properties.name, "Set",
            [.string(Advertisements.interface), .string("Instance"), .variant(.byte(registered.instance))],
            deadline: configuration.applicationDeadline)
    }

    private mutating func showInstances(on index: Int) {
        let count = adapters[index].advertisements.all.values.count { $0.call == nil }
        let path = adapters[index].path
        set("ActiveInstances", .byte(UInt8(clamping: count)), of: BlueZInterfaces.advertisingManager, at: path)
        set(
            "SupportedInstances", .byte(UInt8(clamping: adapters[index].facts.advertisingSets - count)),
            of: BlueZInterfaces.advertisingManager, at: path)
    }

    // MARK: Changes and ends

    mutating func advertisementChanged(_ signal: ClientSignal) {
        for index in adapters.indices {
            guard let id = adapters[index].advertisements.id(of: signal.path, signal.sender) else { continue }
            readAdvertisement(id, for: nil, on: index)
        }
    }

    private mutating func removeAdvertisement(_ id: AdvertisementID, isReleased: Bool = false, on index: Int) {
        guard let registered = adapters[index].advertisements.all.removeValue(forKey: id) else { return }
        if registered.properties != nil { output(.closeAdvertiser(adapter: index, id)) }
        if let call = registered.call { refuse(call, BlueZError.failed("Failed to complete registration")) }
        showInstances(on: index)
        guard isReleased else { return }
        request(
            .ignored, of: registered.client, registered.path, Advertisements.interface, "Release",
            deadline: configuration.applicationDeadline)
    }

    mutating func advertisementOver(_ id: AdvertisementID, _ number: UInt64, on index: Int) {
        guard adapters[index].advertisements.all[id]?.end.number == number else { return }
        removeAdvertisement(id, isReleased: true, on: index)
    }

    mutating func hideAdvertisement(_ id: AdvertisementID, _ number: UInt64, on index: Int) {
        guard adapters[index].advertisements.all[id]?.hiding.number == number else { return }
        adapters[index].advertisements.all[id]?.isHidden = true
        guard adapters[index].state.isPowered else { return }
        sendAdvertisement(id, on: index)
    }

    mutating func forgetAdvertisements(of client: String, on index: Int) {
        for id in adapters[index].advertisements.ids
        where adapters[index].advertisements.all[id]?.client == client {
            removeAdvertisement(id, on: index)
        }
    }

    /// Refuses the advertisements that are not on the air when the power ends; the others return with the power.
    mutating func refuseAdvertisements(on index: Int) {
        for id in adapters[index].advertisements.ids where adapters[index].advertisements.all[id]?.call != nil {
            removeAdvertisement(id, on: index)
        }
    }

    /// Releases all advertisements of an adapter that is gone.
    mutating func releaseAdvertisements(on index: Int) {
        for id in adapters[index].advertisements.ids { removeAdvertisement(id, isReleased: true, on: index) }
    }
}
#endif
