#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// Advertising packets: the reports that clients receive, and the time for which a device is remembered.
extension BluetoothDaemon {
    /// The smallest change of signal strength that is reported if no client set a filter.
    private static let reportedDifference = 8

    mutating func heard(_ discovery: Discovery, on index: Int) {
        guard adapters[index].state.isPresent else { return }
        let hearing = adapters[index].monitors.hear(discovery, at: now)
        if adapters[index].discovery.lets(discovery) || hearing.isReported { report(discovery, on: index) }
        showToMonitors(hearing, discovery.peer, on: index)
    }

    private mutating func report(_ discovery: Discovery, on index: Int) {
        guard let address = discovery.address else { return }
        let isNew = adapters[index].devices[discovery.peer] == nil
        if isNew { addDevice(discovery, address, on: index) }
        adapters[index].devices[discovery.peer]?.heard.lastPacket = now
        if let isConnectable = discovery.advertisement.isConnectable {
            adapters[index].devices[discovery.peer]?.heard.isConnectable = isConnectable
        }
        showData(discovery, of: discovery.peer, on: index)
        showStrength(discovery, on: index)
        guard adapters[index].discovery.wantConnection(discovery),
            let device = adapters[index].devices[discovery.peer], device.heard.isConnectable, !device.isInUse
        else { return }
        startConnecting(discovery.peer, on: index, for: nil)
    }

    private mutating func addDevice(_ discovery: Discovery, _ address: String, on index: Int) {
        let path = DaemonDevice.path(of: address, on: adapters[index].path)
        // Another device had the address before.
        if let former = adapters[index].peers[path] { removeObjects(of: former, on: index) }
        var device = DaemonDevice(
            peer: discovery.peer, path: path, address: address, isRandom: DeviceAddressKind.isRandom(address))
        if let name = discovery.advertisement.localName ?? discovery.name { device.setName(name) }
        device.heard.lastReport = now - configuration.reportInterval
        add(device, on: index)
        output(
            .schedule(.temporary(adapter: index, discovery.peer), after: configuration.temporaryTimeout))
    }

    /// Shows changed content of the packet, and repeats unchanged content if a client wants duplicates.
    private mutating func showData(_ discovery: Discovery, of peer: PeerID, on index: Int) {
        guard let path = adapters[index].devices[peer]?.path else { return }
        let data = discovery.advertisement
        setName(data.localName, of: peer, on: index)
        if let services = data.serviceUUIDs {
            let known = adapters[index].devices[peer]?.heard.services ?? []
            let added = services.filter { !known.contains($0) }
            if !added.isEmpty {
                adapters[index].devices[peer]?.heard.services = known + added
                showServices(of: peer, on: index)
            }
        }
        if let power = data.txPowerLevel {
            set("TxPower", .int16(Int16(power)), of: BlueZInterfaces.device, at: path)
        }
        let isRepeated = adapters[index].discovery.wantsDuplicates && isDue(peer, on: index)
        showStructures(data, at: path)
        let companies = Self.manufacturerEntries(data)
        if !companies.isEmpty {
            let entries = adapters[index].discovery.wantsDuplicates ? [:] : manufacturerEntries(at: path)
            let value = Self.manufacturerData(entries.merging(companies) { $1 })
            set("ManufacturerData", value, of: BlueZInterfaces.device, at: path, isRepeated: isRepeated)
        }
        if let serviceData = data.serviceData, !serviceData.isEmpty {
            let values = Dictionary(serviceData.map { ($0.key.bluez, DBusValue.bytes(Array($0.value))) }) { $1 }
            let known =
                adapters[index].discovery.wantsDuplicates
                ? [:] : tree.properties(of: BlueZInterfaces.device, at: path)?["ServiceData"]?.propertiesValue ?? [:]
            set(
                "ServiceData", .properties(known.merging(values) { $1 }), of: BlueZInterfaces.device, at: path,
                isRepeated: isRepeated)
        }
    }

    /// Whether the device may be reported again, although only its signal strength changed.
    private func isDue(_ peer: PeerID, on index: Int) -> Bool {
        adapters[index].devices[peer].map { now - $0.heard.lastReport >= configuration.reportInterval } ?? false
    }

    private mutating func showStrength(_ discovery: Discovery, on index: Int) {
        guard let device = adapters[index].devices[discovery.peer] else { return }
        let isFiltered = adapters[index].discovery.isFiltered || adapters[index].monitors.isActive
        if let reported = device.heard.rssi {
            guard isDue(discovery.peer, on: index) else { return }
            guard isFiltered || abs(reported - discovery.rssi) >= Self.reportedDifference else { return }
        }
        adapters[index].devices[discovery.peer]?.heard.rssi = discovery.rssi
        adapters[index].devices[discovery.peer]?.heard.lastReport = now
        set(
            "RSSI", .int16(Int16(clamping: discovery.rssi)), of: BlueZInterfaces.device, at: device.path,
            isRepeated: isFiltered)
    }

    // MARK: Manufacturer data

    /// The companies' data by company identifier, which is sent with the least significant byte first.
    private static func manufacturerEntries(_ advertisement: Advertisement) -> [(UInt16, [UInt8])] {
        let others = (advertisement.otherStructures ?? []).filter { $0.type == 0xFF }.map(\.data)
        return ([advertisement.manufacturerData].compactMap(\.self) + others).compactMap { data in
            let bytes = Array(data)
            guard bytes.count >= 2 else { return nil }
            return (UInt16(bytes[1]) << 8 | UInt16(bytes[0]), Array(bytes.dropFirst(2)))
        }
    }

    /// The data of all companies received so far, which BlueZ retains.
    private func manufacturerEntries(at path: ObjectPath) -> [UInt16: [UInt8]] {
        guard case .dictionary(let known)? = tree.properties(of: BlueZInterfaces.device, at: path)?["ManufacturerData"]
        else { return [:] }
        return Dictionary(
            known.entries.compactMap { entry in
                guard case .uint16(let company) = entry.key, case .variant(.bytes(let bytes)) = entry.value else {
                    return nil
                }
                return (company, bytes)
            }
        ) { $1 }
    }

    private static func manufacturerData(_ entries: [UInt16: [UInt8]]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: .uint16, valueType: .variant,
                entries: entries.sorted { $0.key < $1.key }.map {
                    .init(key: .uint16($0.key), value: .variant(.bytes($0.value)))
                }))
    }

    // MARK: Forgetting

    /// Forgets a temporary device if it was not heard for long, or schedules the next check.
    mutating func temporaryTimePassed(_ peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], device.isTemporary else { return }
        let left =
            device.isInUse
            ? configuration.temporaryTimeout : device.heard.lastPacket + configuration.temporaryTimeout - now
        guard left <= .zero else {
            return output(.schedule(.temporary(adapter: index, peer), after: left))
        }
        removeObjects(of: peer, on: index)
    }

    mutating func removeDevice(_ call: ClientCall, on index: Int) throws(DBusError) {
        guard let path = call.arguments.first?.pathValue, let peer = adapters[index].peers[path] else {
            throw BlueZError.doesNotExist
        }
        guard adapters[index].state.isPowered else { throw BlueZError.notReady }
        closeLinks(with: peer, on: index)
        linkLost(peer, on: index, .removed)
        output(.host(adapter: index, .removeBond(peer)))
        removeObjects(of: peer, on: index)
        answer(call.id)
    }
}

/// The kinds of device addresses.
///
/// Source: Core Specification, Vol 6, Part B, 1.3.
enum DeviceAddressKind {
    /// Whether an address is random: static if its two highest bits are 11, resolvable private if they are 01.
    static func isRandom(_ address: String) -> Bool {
        guard let digit = address.first?.hexDigitValue else { return false }
        return digit & 0xC == 0xC || digit & 0xC == 0x4
    }
}
#endif
