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
            heard.manufacturerData = (wantsDuplicates ? [:] : heard.manufacturerData).merging(companies) { $1 }
            let value = DBusValue.byteArrays(.uint16, heard.manufacturerData, key: DBusValue.uint16)
            set("ManufacturerData", value, isRepeated: isRepeated, &context)
        }
        if let serviceData = data.serviceData, !serviceData.isEmpty {
            let received = serviceData.map { ($0.key.bluez, Array($0.value)) }
            heard.serviceData = (wantsDuplicates ? [:] : heard.serviceData).merging(received) { $1 }
            let value = DBusValue.byteArrays(.string, heard.serviceData, key: DBusValue.string)
            set("ServiceData", value, isRepeated: isRepeated, &context)
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

    /// The companies' data by company identifier, which is sent with the least significant byte first.
    private static func manufacturerEntries(_ advertisement: Advertisement) -> [(UInt16, [UInt8])] {
        let others = (advertisement.otherStructures ?? []).filter { $0.type == 0xFF }.map(\.data)
        return ([advertisement.manufacturerData].compactMap(\.self) + others).compactMap { data in
            let bytes = Array(data)
            guard bytes.count >= 2 else { return nil }
            return (UInt16(bytes[1]) << 8 | UInt16(bytes[0]), Array(bytes.dropFirst(2)))
        }
    }
}
#endif
