#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// Structures of advertising packets that have their own properties.
extension DaemonDevice {
    /// Shows appearance, icon, flags and the structures that `bluetoothd` does not interpret.
    mutating func showStructures(_ data: Advertisement, _ context: inout DaemonContext) {
        let structures = data.otherStructures ?? []
        if let appearance = structures.first(where: { $0.type == 0x19 }) { showAppearance(appearance.data, &context) }
        guard context.dialect >= .bluez5_82 else { return }
        // Connectable devices send flags, even if their flags are unknown.
        let sent = structures.first { $0.type == 0x01 }.map { Array($0.data) }
        if let flags = sent ?? (data.isConnectable == true ? [0x06] : nil) {
            set("AdvertisingFlags", .bytes(flags), &context)
        }
        let raw = structures.filter { ![0x01, 0x19, 0xFF].contains($0.type) }
        guard !raw.isEmpty else { return }
        heard.structures.merge(raw.map { ($0.type, Array($0.data)) }) { $1 }
        set("AdvertisingData", .byteArrays(.byte, heard.structures, key: DBusValue.byte), &context)
    }

    /// Reads the appearance of a device that advertised none.
    ///
    /// Source: BlueZ, `profiles/gap/gas.c`, `handle_appearance`.
    func readAppearance(_ context: inout DaemonContext) {
        guard shown("Appearance", context) == nil else { return }
        context.flush()
        context.output(.readAppearance(adapter: adapter, peer))
    }

    func showAppearance(_ value: Data, _ context: inout DaemonContext) {
        guard value.count == 2 else { return }
        let appearance = UInt16(value[value.startIndex]) | UInt16(value[value.startIndex + 1]) << 8
        // A device that sends 0 has no appearance.
        guard appearance != 0 else { return }
        set("Appearance", .uint16(appearance), &context)
        set("Icon", Self.icon(of: appearance).map(DBusValue.string), &context)
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
}
#endif
