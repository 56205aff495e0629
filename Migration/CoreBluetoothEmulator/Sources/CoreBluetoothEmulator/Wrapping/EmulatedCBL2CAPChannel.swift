public import CoreBluetooth

// Invariant: all fields are constant, and the streams of CoreBluetooth are for one thread at a time.
/// An L2CAP channel to a peer, as a pair of open streams.
///
/// Releasing the channel, or closing both streams, closes it. If the peer closes it, or its link ends, its streams end.
/// Each stream is for one thread at a time.
public final class EmulatedCBL2CAPChannel: NSObject, @unchecked Sendable {
    /// The peer on the other side.
    public let peer: any EmulatedCBPeer
    /// The number under which the channel was published.
    public let psm: CBL2CAPPSM
    /// The identifier by which the bus closes it.
    let identifier: UUID
    private let core: CBL2CAPChannel
    private let world: EmulatedWorld

    init(_ core: CBL2CAPChannel, to peer: any EmulatedCBPeer, psm: CBL2CAPPSM, in world: EmulatedWorld) {
        self.core = core
        self.peer = peer
        self.psm = psm
        self.world = world
        identifier = world.makeIdentifier()
        super.init()
        core.inputStream.open()
        core.outputStream.open()
        world.state.withLock { $0.channels[identifier] = EmulatedWorld.WeakChannel(channel: self) }
    }

    deinit {
        world.state.withLock { $0.channels[identifier] = nil }
    }

    /// The bytes that the other side sends; open.
    public var inputStream: InputStream? { core.inputStream }

    /// The bytes that this side sends; open.
    public var outputStream: OutputStream? { core.outputStream }

    /// Whether bytes can be transferred.
    var isOpen: Bool { core.inputStream.streamStatus == .open && core.outputStream.streamStatus == .open }

    /// Sends as many bytes as fit, without waiting.
    ///
    /// - Returns: The number of bytes.
    func send(data: Data) -> Int {
        var sent = 0
        while sent < data.count, core.outputStream.hasSpaceAvailable {
            let count = data.dropFirst(sent).withUnsafeBytes { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map {
                    core.outputStream.write($0, maxLength: bytes.count)
                } ?? 0
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// Takes bytes that have arrived, without waiting.
    ///
    /// - Returns: At most this number of bytes; nil without any.
    func receive(maxLength: Int) -> Data? {
        guard maxLength > 0, core.inputStream.hasBytesAvailable else { return nil }
        var buffer = [UInt8](repeating: 0, count: maxLength)
        let count = core.inputStream.read(&buffer, maxLength: maxLength)
        return count > 0 ? Data(buffer.prefix(count)) : nil
    }

    /// Closes the channel for both sides.
    func close() {
        core.inputStream.close()
        core.outputStream.close()
    }
}
