#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// The end of a link: this process ends it, or it ends by itself.
///
/// ``CentralRoleMachine`` removes a link once its end is over.
extension CentralLink {
    // MARK: Ended by this process

    /// Ends a link that no manager holds.
    mutating func close(_ context: inout CentralContext) {
        stopNotifying(&context)
        subscriptions.removeAll()
        ending.isClosing = true
        waiting = []
        // A link that is down already only waits for its explanation. Another program's link is not ended.
        guard isOurs, !ending.isDown else {
            ending.isOver = true
            return
        }
        disconnect(&context)
    }

    /// Ends a link whose peer does not respond as it must.
    mutating func abandon(reason: DisconnectReason, _ context: inout CentralContext) {
        guard !ending.isClosing else { return }
        ending.reason = reason
        disconnect(&context)
    }

    private func disconnect(_ context: inout CentralContext) {
        context.call(
            .disconnect(peer), path, Device1.interface, "Disconnect", deadline: context.timings.disconnect)
    }

    /// Handles the reply of `Disconnect`.
    ///
    /// BlueZ pitfall: some daemons never answer (https://github.com/bluez/bluez/issues/947): after the deadline, the
    /// link counts as ended.
    ///
    /// A success may arrive before the signal of the end; the end then waits for the signal.
    mutating func disconnectReplied(_ error: DBusError?, _ context: inout CentralContext) {
        guard ending.isClosing || ending.reason != nil else { return }
        if let error { context.log(.debug, "Disconnect of \(peer): \(error)") }
        guard error == nil, context.objects.devices[path]?.isConnected == true else {
            ending.isOver = true
            return
        }
        start(.linkLoss, context.timings.linkLoss, &context)
    }

    /// Handles that the user of this process refused a pairing, which an operation on the link needed.
    ///
    /// bluetoothd never answers that operation, nor any other on this link, and ends the link after 30 s: the kernel
    /// holds outgoing data back until the link is encrypted. So the operation fails here, and the link is ended.
    mutating func pairingRefused(_ context: inout CentralContext) {
        guard isOpen else { return }
        // The peer answers these, and may require security first.
        let requests = inFlight.filter { $0.value.command.operation != nil && $0.value.command.attribute != nil }
        // Requests are sent one after the other.
        guard let (id, operation) = requests.min(by: { $0.key.number < $1.key.number }) else { return }
        inFlight[id] = nil
        let error = BackendError.att(
            0x05, operation: operation.command.member, message: "the user refuses to pair")
        endFailed(operation, error, &context)
        if isOurs { abandon(reason: .unknown, &context) }
    }

    // MARK: Ended by itself

    mutating func noteReason(_ reason: String) {
        guard ending.reason == nil else { return }
        switch reason {
        case "org.bluez.Reason.Timeout": ending.reason = .timeout
        case "org.bluez.Reason.Remote": ending.reason = .remote
        case "org.bluez.Reason.Authentication": ending.reason = .authentication
        // Local: another program on this host ended it, or power is lost; ends by this process have no holder to
        // notify.
        default: break
        }
    }

    /// Handles that `Connected` became false.
    ///
    /// Values that the daemon has written to sockets for notifications are read first.
    mutating func wentDown(_ context: inout CentralContext) {
        guard !ending.isDown else { return }
        ending.isDown = true
        for socket in subscriptions.sockets { context.perform(.finish, onNotificationSocket: socket) }
        explainDown(&context)
    }

    /// Ends a link that is down, once its sockets for notifications have been read.
    ///
    /// If its reason is unknown, the end waits for a loss of power (S12).
    mutating func explainDown(_ context: inout CentralContext) {
        guard subscriptions.sockets.isEmpty else { return }
        guard !ending.isClosing, ending.reason == nil else {
            ending.isOver = true
            return
        }
        let wait = context.watch.waitForExplanation(
            context.objects.adapters, usually: context.timings.powerLoss)
        start(.powerLoss, wait, &context)
    }

    /// Handles an end that was not reported: a link that was told to end counts as ended, another lives on.
    mutating func linkLossUnconfirmed(_ context: inout CentralContext) {
        if ending.isClosing || ending.reason != nil {
            ending.isOver = true
            return
        }
        guard let (operation, error) = ending.lost else { return }
        ending.lost = nil
        endFailed(operation, error, &context)
        runOperations(&context)
    }

    // MARK: Over

    /// Releases everything that belongs to the link, and reports its end to its holders.
    mutating func end(_ context: inout CentralContext) {
        stopTimers(&context)
        stopNotifying(&context)
        endChannels(&context)
        closeWriteSocket(&context)
        let reason = ending.isClosing ? .local : ending.reason ?? .unknown
        let isUnexpected = !ending.isClosing
        for lease in context.ledger.linkDown(peer, isReconnecting: isUnexpected) {
            guard let id = lease.link else { continue }
            let isReconnecting = isUnexpected && lease.options.autoReconnect
            context.deliver(
                lease.manager,
                .disconnected(link: id, reason: reason, at: context.date, isReconnecting: isReconnecting))
        }
    }
}
#endif
