import BluetoothLocking
public import CoreBluetooth

/// L2CAP channels.
extension PeripheralServer {
    /// Listens for L2CAP channels, which come in ``channels``.
    ///
    /// A call that is cancelled leaves nothing behind: a channel that the system publishes all the same is withdrawn. When
    /// the adapter is switched off or reset, the number is gone with the channels that are open on it: publish again.
    ///
    /// - Parameter isEncryptionRequired: Whether others have to encrypt the link first.
    /// - Returns: The number that the system chose.
    public func publishChannel(isEncryptionRequired: Bool = false) async throws -> CBL2CAPPSM {
        let core = core
        let manager = manager
        return try await core.run(.publish, on: manager) {
            let waiter = Waiter<CBL2CAPPSM>()
            try await core.whenReady(manager) { state in
                state.publish(ServerState.Publication(isEncryptionRequired: isEncryptionRequired, waiter: waiter))
            }
            return try await waiter.value { core.transition(manager.value) { $0.withdraw(waiter) } }
        }
    }

    /// Stops listening, and closes the channels of this number.
    public func unpublishChannel(_ psm: CBL2CAPPSM) { core.transition(manager.value) { $0.order(.unpublish(psm)) } }

    /// The channels that other devices open from now on.
    ///
    /// A channel that no consumer takes is closed.
    public var channels: EventSequence<ByteChannel> {
        let core = core
        return EventSequence {
            let buffer = ElementBuffer<ByteChannel>(
                .oldest(core.settings.channelLimit), core.context(.channel), core.log)
            let number = core.withState { state -> Int in
                let number = state.newNumber()
                state.channelBuffers[number] = buffer
                return number
            }
            return ElementReader(buffer, onDeinit: DeinitAction { core.withState { $0.channelBuffers[number] = nil } })
        }
    }
}
