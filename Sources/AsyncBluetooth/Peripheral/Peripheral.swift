public import CoreBluetooth

/// A device, to talk to.
///
/// Operations connect and discover by themselves, each thing once however many ask, and wait until it is done. A lost
/// link is made again by the next operation. Any thread and any actor may use it. There is one object for a device;
/// when its last reference goes, the link ends.
///
/// Operations throw ``BluetoothError``, and `CancellationError` where their task is cancelled. A cancelled command that
/// waits its turn is not sent; the late answer of one that was sent completes nothing else.
public final class Peripheral: Sendable {
    let core: PeripheralCore

    init(_ core: PeripheralCore) { self.core = core }

    deinit { core.abandon() }

    // MARK: What it is

    /// The device's identifier on this host; not its address.
    public var identifier: UUID { core.identifier }

    /// The device's name; nil where it is not known.
    public var name: String? { core.object.name }

    /// Whether there is a link.
    public var state: CBPeripheralState { core.object.state }

    // MARK: The link

    /// Makes a link, unless there is one; waits as long as it takes.
    public func connect() async throws {
        try await run(.connect) { [core] in _ = try await core.connectedLink() }
    }

    /// Ends the link, with all that is under way on it: ``BluetoothError/Reason/cancelled``.
    ///
    /// Returns when it has ended.
    public func disconnect() async { await core.disconnect() }

    /// Waits until the link ends, whatever ends it; returns at once where there is none.
    ///
    /// It does not keep the connection up; ``maintainConnection(_:)`` does.
    ///
    /// - Returns: Why it ended: ``BluetoothError/Reason/cancelled`` after ``disconnect()``.
    /// - Throws: `CancellationError`.
    public func waitUntilDisconnected() async throws -> BluetoothError {
        let link = core.withState { $0.link?.number }
        let reason = if let link { try await core.end(of: link) } else { BluetoothError.Reason.disconnected(nil) }
        return BluetoothError(context(.connect), reason)
    }

    /// The link's signal strength in dBm.
    public func readRSSI() async throws -> Int {
        try await run(.readRSSI) { [core] in
            let link = try await core.connectedLink()
            guard case .rssi(let rssi) = try await core.perform(.readRSSI, on: link) else {
                throw Failure(.refused(CBError(system: .unknown)))
            }
            return rssi
        }
    }

    /// The most bytes that one write takes on this link: 512 with response, what a packet carries without.
    public func maximumWriteLength(for type: CBCharacteristicWriteType) async throws -> Int {
        try await run(.connect) { [core] in
            _ = try await core.connectedLink()
            return core.object.maximumWriteValueLength(for: type)
        }
    }

    func context(
        _ operation: BluetoothError.Operation, _ path: (any CustomStringConvertible)? = nil
    )
        -> BluetoothError.Context
    {
        BluetoothError.Context(operation, peer: core.identifier, peerName: name, path: path?.description)
    }

    /// Runs an operation for as long as the central's settings allow, and completes its errors.
    func run<Result: Sendable>(
        _ operation: BluetoothError.Operation, _ path: (any CustomStringConvertible & Sendable)? = nil,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await BluetoothError.run(
            context(operation, path), within: core.radio.core.settings.operationTimeout, clock: core.radio.clock, body)
    }

    /// The device as texts for people name it: name and identifier.
    var label: String { BluetoothError.Context.label(identifier, name) }
}

extension Peripheral: Hashable, CustomStringConvertible {
    /// Whether both are the same object.
    public static func == (left: Peripheral, right: Peripheral) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The name, or the identifier.
    public var description: String { name ?? identifier.uuidString }
}
