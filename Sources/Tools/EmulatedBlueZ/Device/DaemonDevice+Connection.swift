#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The reason why a link ended.
enum LinkEnd: Sendable {
    case closed(DisconnectReason)
    /// The adapter was switched off.
    case notReady
    /// The device was removed.
    case removed

    /// The reason that clients receive.
    var reason: DisconnectReason {
        switch self {
        case .closed(let reason): reason
        case .notReady: .unknown
        case .removed: .local
        }
    }
}

// Connect and Disconnect, and the states of links.
extension DaemonDevice {
    // MARK: Connecting

    mutating func connect(_ call: ClientCall, isPowered: Bool, _ context: inout DaemonContext) throws(DBusError) {
        // The text of EIO, instead of the reason.
        guard isPowered else { throw BlueZError.failed("Input/output error") }
        // The kernel ends the link of a blocked device as soon as it opens.
        guard !security.isBlocked else {
            throw BlueZError.connect(BackendError(.peerDisconnected, operation: "connect"))
        }
        if context.dialect >= .bluez5_82, connection.connect != nil || security.pairing != nil {
            throw BlueZError.busy
        }
        // The call succeeds even while a `Disconnect` waits to end the link.
        guard connection.link == nil else { return context.answer(call.id) }
        guard connection.connect == nil else { throw BlueZError.alreadyConnecting }
        startConnecting(for: call, &context)
    }

    /// Connects, for a call or for a pairing.
    mutating func startConnecting(for call: ClientCall?, _ context: inout DaemonContext) {
        let operation = context.nextOperation()
        connection.connect = PendingConnect(operation: operation, call: call)
        if !hasPrivateAddress { isTemporary = false }
        context.output(
            .central(adapter: adapter, .connect(peer: peer, operation: operation, options: ConnectOptions())))
        context.output(
            .schedule(
                .connect(adapter: adapter, peer, operation), after: context.configuration.connectTimeout))
    }

    /// Connects without a call, because a client's filter asks for it.
    mutating func connectIfUnused(_ context: inout DaemonContext) {
        if heard.isConnectable, !isInUse { startConnecting(for: nil, &context) }
    }

    /// Fails a connect whose device was not heard in time.
    mutating func connectTimedOut(_ operation: OperationID, _ context: inout DaemonContext) {
        if connection.connect?.operation == operation { cancelConnect(.connectionTimeout, &context) }
    }

    /// Cancels a connect in progress.
    mutating func cancelConnect(_ code: BackendError.Code, _ context: inout DaemonContext) {
        closeOwnLink(&context)
        connectFailed(BackendError(code, operation: "connect"), &context)
    }

    mutating func connectFailed(_ error: BackendError, _ context: inout DaemonContext) {
        guard let connect = connection.connect.take() else { return }
        if let call = connect.call { context.refuse(call.id, BlueZError.connect(error)) }
        endPairing(BlueZError.connectionAttemptFailed, &context)
    }

    /// Opens a link; answers the call before the services are known.
    mutating func connected(_ link: LinkID, _ parameters: LinkParameters, _ context: inout DaemonContext) {
        let call = connection.connect.take()?.call
        // The name in the device's database replaces the advertised one.
        showName(database.deviceName, &context)
        connection.link = DaemonLink(adapter: adapter, peer: peer, id: link, parameters)
        setWithBearer("Connected", true, &context)
        if let call { context.answer(call.id) }
        startPairing(&context)
        connection.link?.discoverServices(&context)
    }

    // MARK: Disconnecting

    /// Ends the link for all programs, after a delay; cancels a connect in progress at once.
    mutating func disconnect(_ call: ClientCall, _ context: inout DaemonContext) {
        if connection.connect != nil { cancelConnect(.operationCancelled, &context) }
        guard isConnected else { return context.answer(call.id) }
        endLinkLater(&context) { $0.calls.append(call.id) }
    }

    /// Ends the link after a delay, unless the end is already scheduled.
    ///
    /// - Parameter wait: Adds a call that is answered when the link ends.
    mutating func endLinkLater(_ context: inout DaemonContext, _ wait: (inout PendingDisconnect) -> Void) {
        let isScheduled = connection.disconnect != nil
        var disconnect = connection.disconnect ?? PendingDisconnect(number: context.nextNumber())
        wait(&disconnect)
        connection.disconnect = disconnect
        guard !isScheduled else { return }
        let delay = context.configuration.disconnectDelay
        guard delay > .zero else { return closeLinks(&context) }
        context.output(.schedule(.disconnect(adapter: adapter, peer, disconnect.number), after: delay))
    }

    mutating func disconnectDelayPassed(_ number: UInt64, _ context: inout DaemonContext) {
        if connection.disconnect?.number == number { closeLinks(&context) }
    }

    /// Ends the adapter's own link with a device, and the link of the device to the adapter's services.
    mutating func closeLinks(isForSecurity: Bool = false, _ context: inout DaemonContext) {
        if connection.link != nil { closeOwnLink(&context) }
        if connection.isCentral {
            connection.isClosingCentral = true
            context.output(.host(adapter: adapter, .disconnectCentral(peer, isForSecurity: isForSecurity)))
        }
    }

    func closeOwnLink(_ context: inout DaemonContext) {
        context.output(.central(adapter: adapter, .disconnect(peer: peer)))
    }

    /// Handles the end of a link, whatever the reason.
    ///
    /// Sessions of `StartNotify` and the objects of the attributes stay.
    mutating func linkLost(_ end: LinkEnd, _ context: inout DaemonContext) {
        let wasConnected = isConnected
        if let connect = connection.connect.take() {
            let error =
                if case .notReady = end { BlueZError.failed("br-connection-adapter-not-powered") } else {
                    BlueZError.failed("br-connection-canceled")
                }
            // Without power, the controller itself cancels the connect.
            if case .removed = end { closeOwnLink(&context) }
            if let call = connect.call { context.refuse(call.id, error) }
        }
        if let link = connection.link.take() {
            failOperations(link.purposes, &context)
            database.hideMTU(&context)
        }
        context.removeOwnBattery(at: path)
        closeSockets(&context)
        endPairing(BlueZError.authenticationFailed, &context)
        if case .closed = end {} else { connection.isCentral = false }
        if wasConnected, !isConnected { showDisconnected(end.reason, &context) }
    }

    /// Shows that the device is no longer connected, in either role.
    private mutating func showDisconnected(_ reason: DisconnectReason, _ context: inout DaemonContext) {
        set("ServicesResolved", .boolean(false), &context)
        let pending = connection.disconnect.take()
        for call in pending?.bearerCalls ?? [] { context.answer(call) }
        if context.dialect >= .bluez5_87 {
            setOfBearer("Connected", false, &context)
            signalEnd(reason, of: BlueZInterfaces.bearer, &context)
        }
        for call in pending?.calls ?? [] { context.answer(call) }
        if context.dialect >= .bluez5_87 { signalEnd(reason, of: BlueZInterfaces.device, &context) }
        set("Connected", .boolean(false), &context)
        if isTemporary { checkLater(after: context.configuration.temporaryTimeout, &context) }
    }

    /// Schedules the next check whether a temporary device is to be forgotten.
    func checkLater(after delay: Duration, _ context: inout DaemonContext) {
        context.output(.schedule(.temporary(adapter: adapter, peer), after: delay))
    }

    // MARK: Centrals of the adapter's services

    mutating func centralConnected(_ context: inout DaemonContext) {
        guard !connection.isCentral else { return }
        connection.isCentral = true
        setWithBearer("Connected", true, &context)
        // Source: BlueZ, src/device.c, device_attach_att: "Elevating security level since LTK is available".
        if security.isPaired { context.output(.host(adapter: adapter, .requestSecurity(peer))) }
    }

    mutating func centralDisconnected(_ context: inout DaemonContext) {
        guard connection.isCentral else { return }
        let isOurs = connection.isClosingCentral
        (connection.isCentral, connection.isClosingCentral) = (false, false)
        guard connection.link == nil else { return }
        endPairing(BlueZError.authenticationFailed, &context)
        showDisconnected(isOurs ? .local : .remote, &context)
    }
}
#endif
