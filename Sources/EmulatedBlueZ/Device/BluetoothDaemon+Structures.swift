#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// Structures of advertising packets that have their own properties.
extension BluetoothDaemon {
    /// Shows appearance, icon, flags and the structures that `bluetoothd` does not interpret.
    mutating func showStructures(_ data: Advertisement, at path: ObjectPath) {
        let structures = data.otherStructures ?? []
        if let bytes = structures.first(where: { $0.type == 0x19 })?.data, bytes.count == 2 {
            showAppearance(UInt16(bytes[bytes.startIndex]) | UInt16(bytes[bytes.startIndex + 1]) << 8, at: path)
        }
        guard dialect >= .bluez5_82 else { return }
        // Connectable devices send flags, even if their flags are unknown.
        let sent = structures.first { $0.type == 0x01 }.map { Array($0.data) }
        if let flags = sent ?? (data.isConnectable == true ? [0x06] : nil) {
            set("AdvertisingFlags", .bytes(flags), of: BlueZInterfaces.device, at: path)
        }
        let raw = structures.filter { ![0x01, 0x19, 0xFF].contains($0.type) }
        guard !raw.isEmpty else { return }
        let entries = rawEntries(at: path).merging(raw.map { ($0.type, Array($0.data)) }) { $1 }
        set("AdvertisingData", Self.rawData(entries), of: BlueZInterfaces.device, at: path)
    }

    /// Reads the appearance of a device that advertised none.
    ///
    /// Source: BlueZ, `profiles/gap/gas.c`, `handle_appearance`.
    mutating func readAppearance(of peer: PeerID, on index: Int) {
        guard let path = adapters[index].devices[peer]?.path,
            tree.properties(of: BlueZInterfaces.device, at: path)?["Appearance"] == nil
        else { return }
        flush()
        output(.readAppearance(adapter: index, peer))
    }

    mutating func appearanceRead(_ value: Data, of peer: PeerID, on index: Int) {
        guard let path = adapters[index].devices[peer]?.path, value.count == 2 else { return }
        showAppearance(UInt16(value[value.startIndex]) | UInt16(value[value.startIndex + 1]) << 8, at: path)
    }

    private mutating func showAppearance(_ appearance: UInt16, at path: ObjectPath) {
        // A device that sends 0 has no appearance.
        guard appearance != 0 else { return }
        set("Appearance", .uint16(appearance), of: BlueZInterfaces.device, at: path)
        set("Icon", Self.icon(of: appearance).map(DBusValue.string), of: BlueZInterfaces.device, at: path)
    }

    /// The name of an icon of the freedesktop.org specification; nil if BlueZ has no icon for the appearance.
    ///
    /// Source: BlueZ, `src/dbus-common.c`, `gap_appearance_to_icon`.
    private static func icon(of appearance: UInt16) -> String? {
        switch (appearance >> 6, appearance & 0x3F) {
        case (0x00, _): "unknown"
        case (0x01, _): "phone"
        case (0x02, _): "computer"
        case (0x05, _): "video-display"
        case (0x0A, _): "multimedia-player"
        case (0x0B, _), (0x0F, 0x08): "scanner"
        case (0x0F, 0x01): "input-keyboard"
        case (0x0F, 0x02): "input-mouse"
        case (0x0F, 0x03), (0x0F, 0x04): "input-gaming"
        case (0x0F, 0x05): "input-tablet"
        default: nil
        }
    }

    // MARK: Raw data

    private func rawEntries(at path: ObjectPath) -> [UInt8: [UInt8]] {
        guard case .dictionary(let known)? = tree.properties(of: BlueZInterfaces.device, at: path)?["AdvertisingData"]
        else { return [:] }
        return Dictionary(
            known.entries.compactMap { entry in
                guard case .byte(let type) = entry.key, case .variant(.bytes(let bytes)) = entry.value else {
                    return nil
                }
                return (type, bytes)
            }
        ) { $1 }
    }

    private static func rawData(_ entries: [UInt8: [UInt8]]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: .byte, valueType: .variant,
                entries: entries.sorted { $0.key < $1.key }.map {
                    .init(key: .byte($0.key), value: .variant(.bytes($0.value)))
                }))
    }
}
#endif
