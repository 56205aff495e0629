#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues

/// Connects.
extension CentralRoleMachine {
    mutating func connect(
        _ manager: HostLedger.Manager, _ peer: PeerID, _ operation: OperationID, _ options: ConnectOptions
    ) {
        // A scan finds a peer that the directory has forgotten: its identifier follows from its address.
        directory.noteUse(of: peer)
        switch context.ledger.connect(manager, to: peer, operation: operation, options: options) {
        case .linked(let lease): reportConnected(peer, lease)
        case .wait: break
        case .connect: initiateConnection(peer)
        }
    }

    mutating func initiateConnection(_ peer: PeerID) {
        let isClosing = links[peer] != nil
        if !isClosing, let path = directory.path(of: peer), objects.devices[path]?.isConnected == true {
            // A link of another program, or of an earlier process: it is joined if it survives the grace period.
            connects.add(peer, isClosing: true)
            return start(.foreignLinkGrace(peer), timings.foreignLinkGrace)
        }
        connects.add(peer, isClosing: isClosing)
        connectNext()
    }

    /// Joins another program's link that has survived the grace period.
    ///
    /// BlueZ pitfall: a link that its program releases lives for 2 s more, looks unchanged, and lets `Connect` succeed.
    mutating func foreignLinkGraceOver(_ peer: PeerID) {
        guard connects.contains(peer), !connects.isInFlight(peer), links[peer] == nil else { return }
        guard let path = directory.path(of: peer), objects.devices[path]?.isConnected == true else {
            return dialAfterLink(peer)
        }
        connects.remove(peer)
        linkUp(peer, path, isOurs: false)
    }

    private mutating func dialAfterLink(_ peer: PeerID) {
        connects.linkEnded(peer)
        connectNext()
    }

    mutating func connectNext() {
        // Runs for each advertisement, so it must be cheap.
        guard connects.hasAny, state == .poweredOn else { return }
        while let peer = nextPeer(), let path = directory.path(of: peer) {
            preferLE(path)
            call(.connect(peer), path, Device1.interface, "Connect", deadline: timings.connect)
        }
        if let peer = connects.nextToCancel() { cancelConnect(peer) }
    }

    private mutating func nextPeer() -> PeerID? {
        connects.next { [directory, objects] peer in
            directory.path(of: peer).map { objects.devices[$0] != nil } ?? false
        }
    }

    /// Makes BlueZ connect to a device of both kinds over LE.
    ///
    /// BlueZ pitfall: otherwise BlueZ may choose classic Bluetooth (https://github.com/hbldh/bleak/issues/1521).
    private mutating func preferLE(_ path: ObjectPath) {
        guard let bearer = objects.devices[path]?.preferredBearer, bearer != "le" else { return }
        let value: [DBusValue] = [
            .string(Device1.interface), .string("PreferredBearer"), .variant(.string("le")),
        ]
        call(.cleanup, path, ObjectModel.properties, "Set", value, deadline: timings.discovery)
    }

    /// Ends a `Connect` in flight, which then fails.
    ///
    /// BlueZ pitfall: if the peer is heard at that very moment, Linux 6.1 cancels before it connects, and then makes no
    /// connection until the power is switched off; a caller cannot prevent it (RunningOnRealHardware).
    private mutating func cancelConnect(_ peer: PeerID) {
        guard let path = directory.path(of: peer) else { return }
        call(.cleanup, path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    mutating func connectReplied(_ peer: PeerID, _ error: DBusError?) {
        let path = directory.path(of: peer)
        let isConnected = path.map { objects.devices[$0]?.isConnected == true } ?? false
        connects.unconfirmed.remove(peer)
        var outcome = error.map { ErrorMap.connect($0) } ?? .connected
        if outcome == .connected && !isConnected {
            // BlueZ sends the change of `Connected` before the reply that results from it; without the change, the link
            // ended at once. Or the link exists: if bluetoothd has its socket before the kernel reports the link, the
            // change is not sent. A snapshot shows which.
            outcome = .retry
            connects.unconfirmed.insert(peer)
            context.refresh()
        }
        if let error { log(.debug, "Connect of \(peer): \(error)") }
        switch outcome {
        case .connected:
            connects.finish(peer)
            if let path { linkUp(peer, path, isOurs: error == nil) }
        case .retry: retry(peer, isBusy: false)
        case .busy: retry(peer, isBusy: true)
        case .objectGone: connects.lostObject(peer)
        case .noPower: retry(peer, isBusy: false)
        case .fail(let error): failConnect(peer, error)
        }
        connectNext()
    }

    /// Ends the `Connect` in flight to a peer whose object is gone; `bluetoothd` may never answer it.
    mutating func connectLostObject(_ peer: PeerID) {
        connects.unconfirmed.remove(peer)
        guard connects.isInFlight(peer) else { return }
        for (call, purpose) in outputs.calls {
            if case .connect(peer) = purpose { outputs.calls[call] = nil }
        }
        connects.lostObject(peer)
        connectNext()
    }

    /// Schedules the next attempt of a failed connect.
    ///
    /// BlueZ pitfalls: most failures have one text and are temporary (https://github.com/hbldh/bleak/issues/993); and a
    /// connect that a crashed program left pending must be cancelled first
    /// (https://github.com/Bluetooth-Devices/bleak-retry-connector/issues/226).
    private mutating func retry(_ peer: PeerID, isBusy: Bool) {
        guard let (failures, busyInARow) = connects.fail(peer, isBusy: isBusy) else { return }
        if busyInARow == ConnectScheduler.busyLimit { cancelConnect(peer) }
        let doublings = min(failures - 1, 8)
        start(.connectRetry(peer), min(timings.connectRetry * (1 << doublings), timings.connectRetryLimit))
    }

    private mutating func failConnect(_ peer: PeerID, _ error: BackendError) {
        connects.finish(peer)
        for lease in context.ledger.connectFailed(peer) {
            deliver(lease.manager, .connectFailed(peer: peer, operation: lease.operation, error: error))
        }
    }

    // MARK: Link up

    mutating func connectedChanged(_ peer: PeerID, _ path: ObjectPath, _ device: Device1) {
        reportConnectionEvent(peer, path, device)
        let isOurs = connects.unconfirmed.remove(peer) != nil
        guard device.isConnected else {
            if isRunning(.foreignLinkGrace(peer)) {
                stop(.foreignLinkGrace(peer))
                dialAfterLink(peer)
            }
            return update(peer) { $0.wentDown(&$1) }
        }
        // The link was made again before its end was reported.
        if links[peer]?.ending.isDown == true { removeLink(peer) }
        // A new link needs no grace period.
        stop(.foreignLinkGrace(peer))
        // The reply to our own Connect decides (https://github.com/hbldh/bleak/issues/1255: `Connected` toggles).
        guard links[peer] == nil, !connects.isInFlight(peer), isOurs || connects.contains(peer) else { return }
        connects.remove(peer)
        stop(.connectRetry(peer))
        linkUp(peer, path, isOurs: isOurs)
    }

    private mutating func linkUp(_ peer: PeerID, _ path: ObjectPath, isOurs: Bool) {
        let link = CentralLink(to: peer, at: path, isOurs: isOurs, in: objects)
        guard !context.ledger.leases(of: peer).isEmpty else {
            // The connect was cancelled while the link was made.
            guard isOurs else { return }
            links[peer] = link
            return update(peer) { $0.close(&$1) }
        }
        links[peer] = link
        directory.noteUse(of: peer)
        for lease in context.ledger.linkUp(peer) { reportConnected(peer, lease) }
    }

    private mutating func reportConnected(_ peer: PeerID, _ lease: HostLedger.LinkLease) {
        guard let link = lease.link else { return }
        let parameters = LinkParameters(
            mtu: links[peer]?.mtu ?? ATTLimits.minimumMTU, writeCredits: CentralLink.writeCredits)
        deliver(
            lease.manager,
            .connected(peer: peer, link: link, operation: lease.operation, parameters: parameters))
    }
}
#endif
