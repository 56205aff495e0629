#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The Battery Service of devices, which `bluetoothd` reads by itself.
///
/// Source: BlueZ, `profiles/battery/battery.c`, `doc/org.bluez.Battery.rst`.
enum Battery {
    static let level = BluetoothUUID(0x2A19)
    static let highest: UInt8 = 100
}

extension BluetoothDaemon {
    mutating func readBatteryLevel(of peer: PeerID, on index: Int) {
        guard let database = adapters[index].devices[peer]?.database,
            let (id, found) = database.characteristics.sorted(by: { $0.key < $1.key })
                .first(where: { $0.value.record.uuid == Battery.level })
        else { return }
        send(.read(id), for: .batteryLevel, to: peer, on: index)
        if found.canNotify, !found.isSubscribed, found.starting.isEmpty {
            send(.setNotifying(id, true), for: .subscribe(id), to: peer, on: index)
        }
    }

    mutating func showBatteryLevel(_ value: Data, of peer: PeerID, on index: Int) {
        guard let path = adapters[index].devices[peer]?.path, let level = value.first, level <= Battery.highest else {
            return
        }
        guard tree.has(BlueZInterfaces.battery, at: path) else {
            return tree.add([BlueZInterfaces.battery: ["Percentage": .byte(level)]], at: path)
        }
        set("Percentage", .byte(level), of: BlueZInterfaces.battery, at: path)
    }
}
#endif
