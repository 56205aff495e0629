#if os(Linux)
import BluetoothBackend
import Glibc

/// A controller, identified by the kernel's number and by the address that BlueZ exports.
struct ControllerID: Hashable, Sendable {
    /// The number: 1 for `hci1`.
    let index: UInt16
    let address: L2CAPAddress
}

/// The controllers of this machine's kernel.
///
/// An adapter that BlueZ exports is one of them, unless the bus comes from another machine or `bluetoothd` is emulated.
/// For those, the kernel's sockets would reach an unrelated controller of the same number.
///
/// Source: `hci_get_dev_list` and `hci_get_dev_info` in `net/bluetooth/hci_core.c` of Linux; neither needs a privilege.
package enum KernelControllers {
    /// Refuses an operation of an adapter that is not one of them.
    ///
    /// If the kernel does not list its controllers, as in a network namespace, nothing is refused.
    ///
    /// - Parameter address: The address of the adapter.
    static func checkOwn(_ address: L2CAPAddress, _ operation: String) throws(BackendError) {
        guard let own = publicAddresses()?.values, !ControllerStructures.includes(address, Array(own)) else { return }
        throw BackendError(
            .operationNotSupported, operation: operation,
            message:
                "the adapter does not belong to this machine: the bus is that of another machine, or an emulated one")
    }

    /// Returns the public addresses, in written order, by the names of the controllers, such as `hci1`; nil if the kernel does
    /// not list its controllers.
    ///
    /// The address of a controller that is not set up yet is zero.
    package static func publicAddresses() -> [String: [UInt8]]? {
        let socket = BluetoothSocket.make(SOCK_RAW, hci)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        var list = ControllerStructures.deviceList
        guard ioctl(socket, ControllerStructures.listRequest, &list) == 0 else { return nil }
        var addresses: [String: [UInt8]] = [:]
        for device in ControllerStructures.devices(list) {
            var info = ControllerStructures.deviceInfo(of: device)
            // A controller that has just been unplugged is skipped.
            guard ioctl(socket, ControllerStructures.infoRequest, &info) == 0 else { continue }
            addresses["hci\(device)"] = ControllerStructures.publicAddress(info)
        }
        return addresses
    }
}
#endif
