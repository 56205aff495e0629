#if os(Linux)
import BluetoothBackend
import Glibc

/// A controller, by the kernel's number and by the address that BlueZ exports.
struct ControllerID: Hashable, Sendable {
    /// 1 for `hci1`.
    let index: UInt16
    let address: L2CAPAddress
}

/// The controllers of this machine's kernel.
///
/// An adapter that BlueZ exports is one of them, unless the bus comes from another machine or `bluetoothd` is emulated.
/// There, the kernel's sockets would reach a controller that only has the same number.
///
/// Source: `hci_get_dev_list` and `hci_get_dev_info` in `net/bluetooth/hci_core.c` of Linux; neither needs a privilege.
enum KernelControllers {
    /// `BTPROTO_HCI`.
    static let hci: CInt = 1
    /// `HCIGETDEVLIST` and `HCIGETDEVINFO`: `_IOR('H', 210, int)`, `_IOR('H', 211, int)`.
    static let deviceList: UInt = 0x8004_48D2
    static let deviceInfo: UInt = 0x8004_48D3

    /// Refuses an operation of an adapter that is none of them.
    ///
    /// Where the kernel does not list its controllers, as in a network namespace, it refuses nothing.
    ///
    /// - Parameter address: The adapter's.
    static func checkOwn(_ address: L2CAPAddress, _ operation: String) throws(BackendError) {
        guard let own = addresses(), !ControllerStructures.includes(address, own) else { return }
        throw BackendError(
            .operationNotSupported, operation: operation,
            message: "the adapter is not one of this machine's: the bus is another machine's, or an emulated one")
    }

    /// The public addresses; nil where the kernel does not say.
    private static func addresses() -> [[UInt8]]? {
        let socket = BluetoothSocket.make(SOCK_RAW, hci)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        var list = ControllerStructures.deviceList
        guard ioctl(socket, deviceList, &list) == 0 else { return nil }
        return ControllerStructures.devices(list).compactMap { device in
            var info = ControllerStructures.deviceInfo(of: device)
            // One that has just been unplugged is none.
            return ioctl(socket, deviceInfo, &info) == 0 ? ControllerStructures.publicAddress(info) : nil
        }
    }
}
#endif
