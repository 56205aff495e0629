public import CoreBluetooth

/// An L2CAP channel: bytes both ways, without borders of packets.
///
/// Reads go to one task and writes to one task at a time; others wait their turn. The channel closes with ``close()``
/// and with its last reference.
public final class ByteChannel: Sendable {
    /// The channel's number.
    public let psm: CBL2CAPPSM
    /// The device on the other side.
    public let peer: UUID
    private let pump: StreamPump

    init(_ channel: Unchecked<CBL2CAPChannel>) {
        psm = channel.value.psm
        peer = channel.value.peer.identifier
        pump = StreamPump(channel)
    }

    deinit { pump.close() }

    /// The next bytes, as many as are there, up to `maximum`; nil at the end.
    ///
    /// - Throws: `CancellationError`; ``BluetoothError`` after ``close()``.
    public func read(upTo maximum: Int = 4096) async throws -> Data? {
        try await BluetoothError.run(context) { try await pump.read(upTo: max(1, maximum)) }
    }

    /// Sends bytes; returns when the last of them is on its way.
    ///
    /// - Throws: ``BluetoothError`` when the channel is closed, by whichever side; `CancellationError`, after which a
    ///   part may have been sent.
    public func write(_ bytes: Data) async throws {
        try await BluetoothError.run(context) { try await pump.write(bytes) }
    }

    /// All that comes, in pieces as they come, until the end.
    public var bytes: ValueSequence<Data> {
        ValueSequence { FeedReader(pull: { try await self.read() }) }
    }

    /// Closes it; what waits ends with ``BluetoothError/Reason/cancelled``.
    public func close() { pump.close() }

    private var context: BluetoothError.Context {
        BluetoothError.Context(.channel, peer: peer, path: "PSM \(psm)")
    }
}
