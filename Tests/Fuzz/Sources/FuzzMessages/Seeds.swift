import CFuzzer
import Foundation

@testable import BluetoothDBus

/// Messages as `bluetoothd` sends them, and one value of every type, as the corpus of the fuzzer.
enum Seeds {
    private static let device = ObjectPath("/org/bluez/hci0/dev_00_11_22_33_44_55") ?? .root
    private static let properties: [String: DBusValue] = [
        "Address": .string("00:11:22:33:44:55"), "RSSI": .int16(-60), "Connected": .boolean(true),
        "UUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb"]),
        "ManufacturerData": .dictionary(
            DBusDictionary(
                keyType: .uint16, valueType: .variant,
                entries: [.init(key: .uint16(76), value: .variant(.bytes([2, 21])))])),
    ]
    private static let interfaces = DBusValue.dictionary(
        DBusDictionary(
            keyType: .string, valueType: .dictionary(key: .string, value: .variant),
            entries: [.init(key: .string("org.bluez.Device1"), value: .properties(properties))]))
    private static let everything: [DBusValue] = [
        .byte(1), .boolean(true), .int16(-1), .uint16(1), .int32(-1), .uint32(1), .int64(-1), .uint64(1), .double(0.5),
        .string("text"), .objectPath(device), .bytes([1, 2, 3]), .strings(["a", "b"]), .variant(.variant(.byte(1))),
        .structure([.byte(1), .structure([.string("x")])]), .array(.array(.byte), [.bytes([1])]),
    ]

    private static func messages() throws -> [String: DBusMessage] {
        let call = try DBusMessage.methodCall(
            to: "org.bluez", path: device, interface: "org.bluez.Device1", member: "Connect")
        dbus_message_set_serial(call.raw, 7)
        return [
            "changed": try .signal(
                path: device, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                [.string("org.bluez.Device1"), .properties(properties), .strings(["TxPower"])]),
            "added": try .signal(
                path: .root, interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded",
                [.objectPath(device), interfaces]),
            "removed": try .signal(
                path: .root, interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved",
                [.objectPath(device), .strings(["org.bluez.Device1"])]),
            "reason": try .signal(
                path: device, interface: "org.bluez.Device1", member: "Disconnected",
                [.string("org.bluez.Reason.Timeout"), .string("")]),
            "snapshot": try call.methodReturn([
                .dictionary(
                    DBusDictionary(
                        keyType: .objectPath,
                        valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)),
                        entries: [.init(key: .objectPath(device), value: interfaces)]))
            ]),
            "everything": try call.methodReturn(everything),
            "error": try call.errorReply(DBusError(name: "org.bluez.Error.Failed", message: "Not connected")),
            "call": call,
        ]
    }

    static func write(to folder: String) throws {
        for (name, message) in try messages() {
            dbus_message_set_serial(message.raw, 1)
            var (bytes, length) = (UnsafeMutablePointer<CChar>?.none, CInt(0))
            guard dbus_message_marshal(message.raw, &bytes, &length) != 0, let bytes else {
                throw DBusError.outOfMemory
            }
            defer { dbus_free(bytes) }
            try Data(bytes: bytes, count: Int(length)).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
    }
}
