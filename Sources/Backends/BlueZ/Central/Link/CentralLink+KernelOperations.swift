#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Operations of a link that the kernel carries out, and not the daemon: channels, and the signal strength.
extension CentralLink {
    // MARK: L2CAP channels

    /// Begins to open a channel over the link that `bluetoothd` holds.
    mutating func openChannel(_ psm: UInt16, _ operation: Operation, _ context: inout CentralContext) {
        guard let adapter = context.watch.adapter.flatMap({ context.objects.adapters[$0] }),
            let record = context.watch.directory[peer],
            let local = L2CAPAddress(adapter.address, isRandom: adapter.isRandom),
            let remote = L2CAPAddress(record.address, isRandom: record.isRandom, psm: psm)
        else {
            let error = BackendError(
                .unknown, operation: "open channel \(psm)", message: "an address makes no sense")
            return fail(operation, error, &context)
        }
        context.outputs.effects.append(.openChannel(newCall(for: operation, &context), from: local, to: remote))
    }

    mutating func channelReplied(
        _ id: CallID, _ result: Result<ChannelPool.Opening, BackendError>, _ context: inout CentralContext
    ) {
        if let operation = inFlight.removeValue(forKey: id), !ending.isDown,
            context.ledger.peer(of: operation.link) != nil
        {
            switch result {
            case .success(let opening):
                context.channels[opening.channel] = OpenChannel(manager: operation.manager, origin: peer)
                respond(operation, .channel(opening.channel, credits: opening.credits), &context)
            case .failure(let error): fail(operation, error, &context)
            }
        } else if case .success(let opening) = result {
            // The operation is gone.
            context.perform(.abort, on: opening.channel)
        }
        runOperations(&context)
    }

    /// Ends the channels of the link; data that was received before is delivered.
    func endChannels(_ context: inout CentralContext) {
        for channel in context.channels(where: { $0.origin == peer }) {
            context.perform(.readRest, on: channel)
            context.channels[channel] = nil
        }
    }

    // MARK: Signal strength

    mutating func readSignalStrength(_ operation: Operation, _ context: inout CentralContext) {
        guard let adapter = context.watch.adapter, let controller = ControllerID(of: adapter, in: context.objects),
            let record = context.watch.directory[peer],
            let address = L2CAPAddress(record.address, isRandom: record.isRandom)
        else {
            let error = BackendError(
                .unknown, operation: HCIReadRSSI.operation, message: "an address makes no sense")
            return fail(operation, error, &context)
        }
        context.outputs.effects.append(
            .readSignalStrength(newCall(for: operation, &context), of: address, on: controller))
    }

    mutating func signalStrengthReplied(
        _ id: CallID, _ result: Result<Int, BackendError>, _ context: inout CentralContext
    ) {
        guard let operation = inFlight.removeValue(forKey: id) else { return }
        // The end of a link, or of power, answers all open operations.
        guard !ending.isDown else { return }
        switch result {
        case .success(let rssi): respond(operation, .rssi(rssi), &context)
        case .failure(let error): fail(operation, error, &context)
        }
        runOperations(&context)
    }
}

extension ControllerID {
    /// The controller of an adapter; nil if the adapter's path or address makes no sense.
    fileprivate init?(of adapter: ObjectPath, in objects: ObjectModel) {
        let name = adapter.lastElement
        guard name.hasPrefix("hci"), let index = UInt16(name.dropFirst("hci".count)),
            let object = objects.adapters[adapter],
            let address = L2CAPAddress(object.address, isRandom: object.isRandom)
        else { return nil }
        self.init(index: index, address: address)
    }
}
#endif
