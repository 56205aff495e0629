#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// Advertising packets: what clients see of them.
extension DaemonDevice {
    /// The smallest change of signal strength that is reported if no client set a filter.
    private static let reportedDifference = 8

    /// Shows a packet.
    ///
    /// - Parameters:
    ///   - wantsDuplicates: Whether unchanged content is repeated, because a client wants duplicates.
    ///   - isFiltered: Whether each packet is reported, not only a change of signal strength.
    mutating func heard(
        _ discovery: Discovery, wantsDuplicates: Bool, isFiltered: Bool, _ context: inout DaemonContext
    ) {
        heard.lastPacket = context.now
        if let isConnectable = discovery.advertisement.isConnectable { heard.isConnectable = isConnectable }
        show(discovery.advertisement, wantsDuplicates: wantsDuplicates, &context)
        showStrength(discovery.rssi, isFiltered: isFiltered, &context)
    }

    /// Shows changed content of a packet.
    private mutating func show(_ data: Advertisement, wantsDuplicates: Bool, _ context: inout DaemonContext) {
        showName(data.localName, &context)
        if let services = data.serviceUUIDs {
            let added = services.filter { !heard.services.contains($0) }
            if !added.isEmpty {
                heard.services += added
                showServices(&context)
            }
        }
        if let power = data.txPowerLevel { set("TxPower", .int16(Int16(power)), &context) }
        let isRepeated = wantsDuplicates && isDue(context)
        showStructures(data, &context)
        let companies = Self.manufacturerEntries(data)
        if !companies.isEmpty {
            let entries = wantsDuplicates ? [:] : manufacturerEntries(context)
            let value = Self.manufacturerData(entries.merging(companies) { $1 })
            set("ManufacturerData", value, isRepeated: isRepeated, &context)
        }
        if let serviceData = data.serviceData, !serviceData.isEmpty {
            let values = Dictionary(serviceData.map { ($0.key.bluez, DBusValue.bytes(Array($0.value))) }) { $1 }
            let known = wantsDuplicates ? [:] : shown("ServiceData", context)?.propertiesValue ?? [:]
            set("ServiceData", .properties(known.merging(values) { $1 }), isRepeated: isRepeated, &context)
        }
    }

    /// Whether the device may be reported again, although only its signal strength changed.
    private func isDue(_ context: DaemonContext) -> Bool {
        context.now - heard.lastReport >= context.configuration.reportInterval
    }

    private mutating func showStrength(_ rssi: Int, isFiltered: Bool, _ context: inout DaemonContext) {
        if let reported = heard.rssi {
            guard isDue(context), isFiltered || abs(reported - rssi) >= Self.reportedDifference else { return }
        }
        heard.rssi = rssi
        heard.lastReport = context.now
        set("RSSI", .int16(Int16(clamping: rssi)), isRepeated: isFiltered, &context)
    }

    /// Hides the signal strengths, because the last client has stopped discovering.
    mutating func hideStrength(_ context: inout DaemonContext) {
        set("RSSI", nil, &context)
        set("TxPower", nil, &context)
        heard.rssi = nil
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
    private func manufacturerEntries(_ context: DaemonContext) -> [UInt16: [UInt8]] {
        guard case .dictionary(let known)? = shown("ManufacturerData", context) else { return [:] }
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
