import BluetoothSupport
public import CoreBluetooth

/// Subscribers.
extension PeripheralServer {
    /// The devices that subscribe to a characteristic now.
    public func subscribers(of characteristic: CharacteristicID) -> [RemoteCentral] {
        core.subscribers(of: characteristic)
    }

    /// Sends a notification or indication; returns when the system has accepted it, not when it has arrived.
    ///
    /// - Parameters:
    ///   - value: At most ``RemoteCentral/maximumUpdateLength`` bytes of each receiver; a longer value throws
    ///     ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: A characteristic of a published service.
    ///   - centrals: The subscribers to notify; nil for all of them. Others are ignored.
    public func notify(
        _ value: Data, of characteristic: CharacteristicID, to centrals: [RemoteCentral]? = nil
    ) async throws {
        try await core.run(.notify, characteristic.description, on: manager) { [core, manager] in
            let wanted = centrals.map { Set($0.map(\.identifier)) }
            let targets = core.subscribers(of: characteristic).filter { wanted?.contains($0.identifier) ?? true }
            let maximum = targets.map(\.maximumUpdateLength).min() ?? 512
            guard value.count <= maximum else {
                throw OperationFailure(.valueTooLong(length: value.count, maximum: maximum))
            }
            let waiter = Waiter<Void>()
            let update = ServerState.Update(
                characteristic: characteristic, value: value, centrals: wanted, waiter: waiter)
            let isPublished = try await core.whenReady(manager) { state -> Bool in
                guard state.published.objects[characteristic] != nil else { return false }
                state.updates.queue.append(update)
                return true
            }
            guard isPublished else { throw OperationFailure(.missingCharacteristics([characteristic.uuid])) }
            core.pump(manager.value)
            try await waiter.value { core.withState { $0.updates.queue.removeAll { $0.waiter === waiter } } }
        }
    }

    /// Sends a notification, or indication, as soon as there is room, and does not wait.
    ///
    /// Values are sent in the order of the calls. A value that a write handler sends follows the response to the write,
    /// as a control point's indication must. A value that is longer than ``RemoteCentral/maximumUpdateLength`` is
    /// shortened.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - characteristic: A characteristic of a published service.
    ///   - centrals: The subscribers to notify; nil for all of them. Others are ignored.
    /// - Returns: Whether the value will be sent: false while the adapter is off, for a characteristic that is not
    ///   published, and if ``Settings/updateLimit`` values wait.
    @discardableResult
    public func send(
        _ value: Data, of characteristic: CharacteristicID, to centrals: [RemoteCentral]? = nil
    ) -> Bool {
        core.send(value, of: characteristic, to: centrals, manager.value)
    }

    /// The date of the server's backend: an emulator's in virtual time, otherwise the system's.
    public var date: Date { ManagerClock(of: manager.value).date }

    /// The time since the backend's origin; it never decreases.
    package var elapsedTime: Duration { ManagerClock(of: manager.value).elapsedTime }

    /// Subscriptions and unsubscriptions from now on.
    ///
    /// A slow consumer loses events according to ``Settings/buffering``; ``subscribers(of:)`` is always current.
    public var subscriptions: EventSequence<SubscriptionEvent> { core.subscriptions.sequence(retaining: core) }
}

extension ServerCoordinator {
    func subscribers(of characteristic: CharacteristicID) -> [RemoteCentral] {
        withState { $0.published.objects[characteristic] }?.subscribedCentrals?.map { RemoteCentral($0) } ?? []
    }

    /// Runs an operation within the time limit of the settings, and adds the context to its errors.
    func run<Result: Sendable>(
        _ operation: BluetoothError.Operation, _ path: String? = nil, on manager: Unchecked<CBPeripheralManager>,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await BluetoothError.run(
            BluetoothError.Context(operation, path: path), within: settings.operationTimeout,
            clock: ManagerClock(of: manager.value), body)
    }
}

/// L2CAP channels.
extension PeripheralServer {
    /// Listens for L2CAP channels, which ``channels`` delivers.
    ///
    /// A channel that the system publishes after the call was cancelled is withdrawn. When
    /// the adapter is switched off or reset, the PSM and its open channels end: publish again.
    ///
    /// - Parameter isEncryptionRequired: Whether others have to encrypt the link first.
    /// - Returns: The PSM that the system assigned.
    public func publishChannel(isEncryptionRequired: Bool = false) async throws -> CBL2CAPPSM {
        try await core.run(.publish, on: manager) { [core, manager] in
            let waiter = Waiter<CBL2CAPPSM>()
            try await core.whenReady(manager) { state in
                state.publish(ServerState.Publication(isEncryptionRequired: isEncryptionRequired, waiter: waiter))
            }
            return try await waiter.value { core.transition(manager.value) { $0.withdraw(waiter) } }
        }
    }

    /// Stops listening, and closes the channels of this PSM.
    public func unpublishChannel(_ psm: CBL2CAPPSM) { core.transition(manager.value) { $0.order(.unpublish(psm)) } }

    /// Channels that other devices open from now on.
    ///
    /// A channel that no consumer takes is closed.
    public var channels: EventSequence<ByteChannel> { core.channels.sequence(retaining: core) }
}
