#if os(Linux)
import BluetoothDBus

/// One value of every type and some of every combination that BlueZ uses.
enum Samples {
    static let path = ObjectPath("/org/bluez/hci0") ?? .root

    static let values: [DBusValue] =
        ["", "a{sv}"].compactMap { DBusSignature($0) }.map(DBusValue.signature) + plain

    private static let plain: [DBusValue] = [
        .byte(0), .byte(255), .boolean(true), .boolean(false), .int16(.min), .int16(.max), .uint16(.max),
        .int32(.min), .uint32(.max), .int64(.min), .int64(.max), .uint64(.max), .double(-0.5), .double(.infinity),
        .string(""), .string("Grüße 🫀"), .objectPath(path), .objectPath(.root),
        .bytes([]), .bytes([0, 1, 255]), .bytes(Array(repeating: 7, count: 70_000)),
        .strings([]), .strings(["a", ""]), .objectPaths([path]),
        .array(.array(.byte), [.bytes([1]), .bytes([])]),
        .array(.structure([.int16, .string]), [.structure([.int16(-1), .string("x")])]),
        .array(.array(.structure([.byte])), []),
        .array(.variant, [.variant(.byte(1)), .variant(.strings(["y"]))]),
        .structure([.byte(1), .structure([.uint64(2), .bytes([3])])]),
        .variant(.variant(.string("deep"))),
        .properties([:]), .properties(["RSSI": .int16(-60), "Data": .bytes([1, 2])]),
        .dictionary(
            DBusDictionary(
                keyType: .uint16, valueType: .variant,
                entries: [.init(key: .uint16(0x4C), value: .variant(.bytes([2, 21])))])),
        .dictionary(
            DBusDictionary(
                keyType: .objectPath,
                valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)),
                entries: [
                    .init(
                        key: .objectPath(path),
                        value: .dictionary(
                            DBusDictionary(
                                keyType: .string, valueType: .dictionary(key: .string, value: .variant),
                                entries: [.init(key: .string("i"), value: .properties(["p": .boolean(true)]))])))
                ])),
    ]
}
#endif
