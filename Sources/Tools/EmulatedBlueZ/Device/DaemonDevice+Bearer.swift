#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// The bearer of a device, which is LE and has had a separate interface since BlueZ 5.84.
//
// Source: BlueZ, `src/bearer.c`, `doc/org.bluez.Bearer.LE.rst`.
extension DaemonDevice {
    /// The interface of a device's bearer; its properties and methods are experimental, its signal is not.
    func bearerInterface(_ context: DaemonContext) -> [String: ObjectTree.Properties] {
        guard context.dialect >= .bluez5_87 else { return [:] }
        guard context.configuration.isExperimental else { return [BlueZInterfaces.bearer: [:]] }
        return [
            BlueZInterfaces.bearer: [
                "Adapter": .objectPath(path.prefix(3)), "Paired": .boolean(security.isPaired),
                "Bonded": .boolean(security.isBonded), "Connected": .boolean(isConnected),
            ]
        ]
    }

    /// Changes a property of the bearer, if it has properties.
    func setOfBearer(_ property: String, _ value: Bool, _ context: inout DaemonContext) {
        guard context.configuration.isExperimental else { return }
        context.set(property, .boolean(value), of: BlueZInterfaces.bearer, at: path)
    }

    /// Changes a property of a device that its bearer has as well.
    func setWithBearer(_ property: String, _ value: Bool, _ context: inout DaemonContext) {
        setOfBearer(property, value, &context)
        set(property, .boolean(value), &context)
    }

    mutating func handleBearerCall(
        _ call: ClientCall, isPowered: Bool, _ context: inout DaemonContext
    ) throws(DBusError) {
        if call.member == "Connect" {
            guard connection.link == nil else { throw BlueZError.alreadyConnected }
            guard security.pairing == nil, connection.connect == nil else { throw BlueZError.busy }
            guard isPowered, !security.isBlocked else { throw BlueZError.failed("Input/output error") }
            isTemporary = false
            startConnecting(for: call, &context)
        } else {
            guard isConnected else { throw BlueZError.notConnected }
            // A `Disconnect` of the device is in progress.
            guard connection.disconnect?.calls.isEmpty != false else { throw BlueZError.busy }
            endLinkLater(&context) { $0.bearerCalls.append(call.id) }
        }
    }

    // MARK: The end of a link

    /// Sends the signal that gives the reason for the end of a link.
    func signalEnd(_ reason: DisconnectReason, of interface: String, _ context: inout DaemonContext) {
        let (name, text) =
            switch reason {
            case .timeout: ("Timeout", "Connection timeout")
            case .local: ("Local", "Connection terminated by local host")
            case .remote: ("Remote", "Connection terminated by remote user")
            case .authentication: ("Authentication", "Connection terminated due to authentication failure")
            case .unknown: ("Unknown", "Unspecified")
            }
        context.flush()
        context.output(
            .signal(
                ObjectTree.Signal(
                    path: path, interface: interface, member: "Disconnected",
                    body: [.string("org.bluez.Reason." + name), .string(text)])))
    }
}
#endif
