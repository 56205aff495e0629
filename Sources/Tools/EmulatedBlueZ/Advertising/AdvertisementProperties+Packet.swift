#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

extension AdvertisementProperties {
    /// The length of an advertising packet, and of a scan response, in bytes.
    private static let packetLength = 31
    /// The greatest length of a name in a scan response, in bytes.
    private static let longestName = packetLength - 2
    /// The number of bytes to which Linux cuts the name of an adapter that an advertisement includes.
    ///
    /// Source: Linux, `net/bluetooth/eir.c`, `eir_append_local_name`.
    private static let longestIncludedName = 10

    /// The advertisement as it is on the air; nil if it does not fit.
    ///
    /// An adapter that is discoverable makes a broadcast connectable, as Linux does
    /// (`net/bluetooth/hci_sync.c`, `hci_setup_ext_adv_instance_sync`).
    ///
    /// - Parameters:
    ///   - alias: The name of the adapter, which an advertisement may include.
    ///   - isDiscoverable: Whether the adapter is discoverable.
    ///   - isHidden: Whether the time for which the advertisement is discoverable is over.
    func advertisement(
        alias: String, isDiscoverable: Bool, isHidden: Bool, _ dialect: BlueZDialect
    ) -> Advertisement? {
        let flags = ownFlags(isHidden: isHidden, dialect) ?? (kind == .peripheral && isDiscoverable ? 0x06 : nil)
        var content = AdvertisingData(
            txPowerLevel: includes.contains("tx-power") ? txPower ?? 0 : nil, services: services,
            solicitedServices: solicitedServices, serviceData: serviceData, manufacturerData: manufacturerData.first)
        content.otherStructures = otherStructures(flags: flags)
        let room = Self.packetLength - (flags == nil ? 0 : 3) - content.encodedLength
        guard room >= 0 else { return nil }
        var advertisement = content.advertisement(isConnectable: kind == .peripheral || isDiscoverable)
        if includes.contains("local-name") {
            advertisement.localName = alias.prefix(utf8Bytes: Self.longestIncludedName)
        } else if hasSecondaryChannel, kind == .peripheral {
            // Extended advertising is not connectable and scannable at once: the name shares the packet with the rest.
            advertisement.localName = room > 2 ? localName?.prefix(utf8Bytes: room - 2) : nil
        } else {
            advertisement.localName = localName?.prefix(utf8Bytes: Self.longestName)
        }
        return advertisement
    }

    /// The flags that `bluetoothd` sends for the client; if nil, Linux sends those of a discoverable adapter.
    private func ownFlags(isHidden: Bool, _ dialect: BlueZDialect) -> UInt8? {
        switch isDiscoverable {
        case true? where !isHidden: discoverableTimeout == nil ? 0x06 : 0x05
        case false? where kind == .peripheral && dialect >= .bluez5_82: 0x04
        default: nil
        }
    }

    private func otherStructures(flags: UInt8?) -> [AdvertisingStructure] {
        // The adapter itself has no appearance.
        let appearance = self.appearance ?? (includes.contains("appearance") ? 0 : nil)
        var others = flags.map { [AdvertisingStructure(type: 0x01, data: Data([$0]))] } ?? []
        if let appearance {
            let bytes = [UInt8(truncatingIfNeeded: appearance), UInt8(truncatingIfNeeded: appearance >> 8)]
            others.append(AdvertisingStructure(type: 0x19, data: Data(bytes)))
        }
        others += manufacturerData.dropFirst().map { AdvertisingStructure(type: 0xFF, data: $0) }
        return others + structures
    }
}
#endif
