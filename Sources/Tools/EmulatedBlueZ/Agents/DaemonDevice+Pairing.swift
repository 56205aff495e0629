#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// Pairing: for a client's `Pair`, for a protected attribute, or at the request of the other side.
extension DaemonDevice {
    // MARK: Pair

    mutating func pair(_ call: ClientCall, isPowered: Bool, _ context: inout DaemonContext) throws(DBusError) {
        guard !security.isBonded else { throw BlueZError.alreadyExists }
        guard isPowered else { throw BlueZError.notReady }
        guard security.pairing == nil else { throw BlueZError.busy }
        guard connection.connect == nil else {
            throw context.dialect >= .bluez5_82 ? BlueZError.busy : BlueZError.alreadyConnecting
        }
        isTemporary = false
        security.pairing = PendingPairing(call: call.id, sender: call.sender, operation: context.nextOperation())
        if isConnected { startPairing(&context) } else { startConnecting(for: nil, &context) }
    }

    /// Begins the pairing that a client asked for, after the link has opened.
    mutating func startPairing(_ context: inout DaemonContext) {
        guard let pairing = security.pairing, !pairing.isPaired else { return }
        guard context.hasAgent else {
            remarkThatNoAgentIsThere(&context)
            return endPairing(BlueZError.authenticationFailed, &context)
        }
        let agent = context.agents.agent(of: pairing.sender) ?? context.agents.default
        context.setCapability(context.capability(of: agent), of: adapter)
        context.output(.pairing(adapter: adapter, .pair(peer: peer, operation: pairing.operation)))
    }

    mutating func cancelPairing(for call: ClientCall, _ context: inout DaemonContext) {
        // A client's own `Connect` continues.
        if let connect = connection.connect, connect.call == nil {
            closeOwnLink(&context)
            connection.connect = nil
        }
        endPairing(BlueZError.authenticationCanceled, &context)
        closeLinks(&context)
        context.answer(call.id)
    }

    /// Answers the client's `Pair` when the services of the paired device are known.
    mutating func finishPairing(_ context: inout DaemonContext) {
        guard let pairing = security.pairing, pairing.isPaired, connection.link?.discovery == nil else { return }
        security.pairing = nil
        context.answer(pairing.call)
        context.showCapability()
    }

    /// Ends a failed pairing that a client asked for.
    mutating func endPairing(_ error: DBusError, _ context: inout DaemonContext) {
        guard let pairing = security.pairing.take() else { return }
        context.refuse(pairing.call, error)
        context.showCapability()
    }

    // MARK: Events

    mutating func paired(isBonded: Bool, _ context: inout DaemonContext) {
        if isBonded { isTemporary = false }
        showPaired(true, isBonded: isBonded, &context)
        security.pairing?.isPaired = true
        finishPairing(&context)
    }

    mutating func showPaired(_ isPaired: Bool, isBonded: Bool, _ context: inout DaemonContext) {
        (security.isPaired, security.isBonded) = (isPaired, isBonded)
        setWithBearer("Bonded", isBonded, &context)
        setWithBearer("Paired", isPaired, &context)
    }

    /// Handles a failed pairing.
    ///
    /// The kernel ends the link if the other side failed it; after a refusal by this side the link stays open, but no
    /// further response is sent on it.
    ///
    /// - Parameter isOurs: Whether this side refused the pairing.
    mutating func pairingFailed(_ error: BackendError, isOurs: Bool, _ context: inout DaemonContext) {
        if !context.hasAgent { remarkThatNoAgentIsThere(&context) }
        let wasConnected = isConnected
        // The kernel treats a refusal by this side as any other failure.
        endPairing(isOurs ? BlueZError.authenticationFailed : BlueZError.pairing(error), &context)
        guard wasConnected else { return }
        connection.link?.isMute = true
        if !isOurs { closeLinks(isForSecurity: true, &context) }
    }

    private func remarkThatNoAgentIsThere(_ context: inout DaemonContext) {
        context.output(
            .remark(
                "\(address) was not paired, and no program has registered an agent, which bluetoothd needs even for a "
                    + "device without a passkey"))
    }
}
#endif
