#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// The bearer of a device, which is LE and has had a separate interface since BlueZ 5.84.
//
// Source: BlueZ, `src/bearer.c`, `doc/org.bluez.Bearer.LE.rst`.
extension BluetoothDaemon {
    /// The interface of a device's bearer; its properties and methods are experimental, its signal is not.
    func bearer(of device: DaemonDevice, on index: Int) -> [String: ObjectTree.Properties] {
        guard dialect >= .bluez5_87 else { return [:] }
        guard configuration.isExperimental else { return [BlueZInterfaces.bearer: [:]] }
        return [
            BlueZInterfaces.bearer: [
                "Adapter": .objectPath(adapters[index].path), "Paired": .boolean(device.security.isPaired),
                "Bonded": .boolean(device.security.isBonded), "Connected": .boolean(device.isConnected),
            ]
        ]
    }

    /// Changes a property of a device that its bearer has as well.
    mutating func setWithBearer(_ property: String, _ value: Bool, at path: ObjectPath) {
        if configuration.isExperimental { set(property, .boolean(value), of: BlueZInterfaces.bearer, at: path) }
        set(property, .boolean(value), of: BlueZInterfaces.device, at: path)
    }

    mutating func handleBearerCall(_ call: ClientCall, of peer: PeerID, on index: Int) throws(DBusError) {
        guard let device = adapters[index].devices[peer] else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        if call.member == "Connect" {
            guard device.connection.link == nil else { throw BlueZError.alreadyConnected }
            guard device.security.pairing == nil, device.connection.connect == nil else { throw BlueZError.busy }
            guard adapters[index].state.isPowered, !device.security.isBlocked else {
                throw BlueZError.failed("Input/output error")
            }
            adapters[index].devices[peer]?.isTemporary = false
            startConnecting(peer, on: index, for: call)
        } else {
            guard device.isConnected else { throw BlueZError.notConnected }
            // A `Disconnect` of the device is in progress.
            guard device.connection.disconnect?.calls.isEmpty != false else { throw BlueZError.busy }
            endLinkLater(peer, on: index) { $0.bearerCalls.append(call.id) }
        }
    }

    // MARK: The end of a link

    /// Sends the signal that gives the reason for the end of a link.
    mutating func signalEnd(_ reason: DisconnectReason, of interface: String, at path: ObjectPath) {
        let (name, text) =
            switch reason {
            case .timeout: ("Timeout", "Connection timeout")
            case .local: ("Local", "Connection terminated by local host")
            case .remote: ("Remote", "Connection terminated by remote user")
            case .authentication: ("Authentication", "Connection terminated due to authentication failure")
            case .unknown: ("Unknown", "Unspecified")
            }
        flush()
        output(
            .signal(
                ObjectTree.Signal(
                    path: path, interface: interface, member: "Disconnected",
                    body: [.string("org.bluez.Reason." + name), .string(text)])))
    }
}
#endif
