#if os(Linux)
import BluetoothSupport
import CoreBluetooth
public import CoreBluetoothClasses

// Facts that Apple's platforms do not expose, and actions that they take by themselves.

extension Central {
    /// The name of the backend, such as "bluez" or "emulator"; "automatic" until that is decided.
    ///
    /// Linux only.
    public var backendName: String { handle.manager.value.backendName }

    /// Counts the events that this central's manager dropped because its queue was too slow.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and their effects; `droppedCount` of a
    /// sequence's iterator counts the elements that its slow consumer loses.
    public var droppedEvents: CBDroppedEvents { handle.manager.value.droppedEvents }
}

extension PeripheralServer {
    /// The name of the backend, such as "bluez" or "emulator"; "automatic" until that is decided.
    ///
    /// Linux only.
    public var backendName: String { manager.value.backendName }

    /// Counts the events that this server's manager dropped because its queue was too slow.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and their effects; requests that are
    /// refused because too many handlers run are not among them.
    public var droppedEvents: CBDroppedEvents { manager.value.droppedEvents }
}

extension Peripheral {
    /// The ATT MTU of the link, in bytes; 23 without a link.
    ///
    /// Linux only. ``maximumWriteLength(for:)`` is the portable way to learn the length of a write.
    public var mtuLength: Int { core.object.mtuLength }

    /// Returns the handle of an attribute, 1...65535; nil if the backend does not report it.
    ///
    /// Linux only. A handle is for people and for listings: the path names the attribute. Connects and discovers
    /// missing attributes, as all operations do.
    ///
    /// - Parameter attribute: A service, a characteristic or a descriptor.
    /// - Throws: ``BluetoothError``, also if the device does not have the attribute.
    public func handle(of attribute: some PathIdentifier) async throws -> UInt16? {
        try await run(.discover, attribute) { [core] in
            switch attribute {
            case let service as ServiceID: try await core.service(service).attribute.handle
            case let characteristic as CharacteristicID: try await core.characteristic(characteristic).attribute.handle
            case let descriptor as DescriptorID: try await core.descriptor(descriptor).attribute.handle
            default: nil
            }
        }
    }
}

extension CBPairingAgent {
    /// Pairs with a device and bonds; the agent's delegate receives the questions of the pairing.
    ///
    /// Linux only. Cancelling the task does not end the pairing, which continues for the lifetime of the agent.
    ///
    /// - Throws: ``BluetoothError`` with the system's `CBError` or `CBATTError`; `CancellationError`.
    public func pair(_ peripheral: Peripheral) async throws {
        try await call(.pair, peripheral) { self.pair($0, completion: $1) }
    }

    /// Removes the bond with a device on this host; the device retains its keys.
    ///
    /// Linux only.
    ///
    /// - Throws: ``BluetoothError`` with the system's `CBError`: `unknownDevice` without a bond; `CancellationError`.
    public func unpair(_ peripheral: Peripheral) async throws {
        try await call(.unpair, peripheral) { self.unpair($0, completion: $1) }
    }

    private func call(
        _ operation: BluetoothError.Operation, _ peripheral: Peripheral,
        _ begin: (CBPeer, @escaping @Sendable ((any Error)?) -> Void) -> Void
    ) async throws {
        try await BluetoothError.run(peripheral.context(operation)) {
            let waiter = Waiter<Void>()
            begin(peripheral.core.object) { error in
                waiter.finish(error.map { .failure(OperationFailure(.refused($0))) } ?? .success(()))
            }
            try await waiter.value {}
        }
    }
}
#endif
