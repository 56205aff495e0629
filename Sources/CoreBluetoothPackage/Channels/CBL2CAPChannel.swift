import BluetoothBackend
public import Foundation

/// A connection-oriented channel to a peer, as a pair of streams.
///
/// The streams arrive unopened: set their delegates, schedule them in a run loop and open them. They also work without
/// a run loop: `read` and `write` block until they can move bytes, and `hasBytesAvailable` and
/// `hasSpaceAvailable` show whether they can. Bytes come and go past the manager's queue, so that both may be called
/// within its callbacks.
///
/// Releasing the channel, or closing both streams, closes it. A channel that the peer closes, and one whose link is
/// lost, shows as the end of its streams. Source: Apple, CBL2CAPChannel.
open class CBL2CAPChannel: NSObject {
    /// The other side: a ``CBPeripheral`` on the client's side, a ``CBCentral`` on the server's.
    public let peer: CBPeer!

    /// The bytes that the other side sends.
    public let inputStream: InputStream!

    /// The bytes that this side sends.
    public let outputStream: OutputStream!

    /// The channel's number.
    public let psm: CBL2CAPPSM

    /// Whether it ended with its link, and not by a close of the other side: known as soon as the streams end.
    package var hasLostLink: Bool { core.hasLostLink }

    private let core: ChannelCore
    private let id: ChannelID
    private let table: ChannelTable

    /// The object of a channel that is up; nil if it was released already.
    init?(_ id: ChannelID, in table: ChannelTable, peer: CBPeer, psm: CBL2CAPPSM) {
        guard let core = table.claim(id) else { return nil }
        self.peer = peer
        inputStream = L2CAPInputStream(core)
        outputStream = L2CAPOutputStream(core)
        self.psm = psm
        self.core = core
        self.id = id
        self.table = table
        super.init()
    }

    deinit {
        table.release(id)
    }

    /// `<CBL2CAPChannel: 0x1234, PSM = 193>`.
    open override var description: String { describe(self, ["PSM": "\(psm)"]) }
}

/// The protocol/service multiplexer of an L2CAP channel: 0x80 to 0xFF where the system chooses it.
///
/// Sources: Apple, CBL2CAPPSM; Core Specification, Vol 3, Part A, 4.22.
public typealias CBL2CAPPSM = UInt16

/// The bytes that come over an L2CAP channel.
///
/// Foundation's rules: one thread at a time, `read` blocks while the buffer is empty, the delegate is called on the run
/// loops that the stream is scheduled in. It works without a run loop too, by asking `hasBytesAvailable`. The borders
/// of the peer's packets are lost. Source: Apple, InputStream; Core Specification, Vol 3, Part A, 10.
final class L2CAPInputStream: InputStream {
    private let channel: ChannelCore

    init(_ channel: ChannelCore) {
        self.channel = channel
        super.init(data: Data())
        channel.events(.input).attach(self)
    }

    deinit {
        channel.events(.input).removeAll()
    }

    override var delegate: (any StreamDelegate)? {
        get { channel.events(.input).delegate }
        set { channel.events(.input).delegate = newValue }
    }

    override var streamStatus: Stream.Status { channel.withMachine { $0.phase(of: .input).status } }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { channel.withMachine { $0.isReady(.input) } }

    override func open() { channel.open(.input) }
    override func close() { channel.close(.input) }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        channel.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: max(0, len)))
    }

    /// The bytes are in pieces; read them.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard streamStatus != .closed else { return }
        channel.events(.input).schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        channel.events(.input).remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

/// The bytes that go over an L2CAP channel.
///
/// Foundation's rules: one thread at a time, `write` takes as much as there is room for and blocks while there is
/// none, the delegate is called on the run loops that the stream is scheduled in. It works without a run loop too, by
/// asking `hasSpaceAvailable`. Source: Apple, OutputStream; Core Specification, Vol 3, Part A, 10.
final class L2CAPOutputStream: OutputStream {
    private let channel: ChannelCore

    init(_ channel: ChannelCore) {
        self.channel = channel
        super.init(toMemory: ())
        channel.events(.output).attach(self)
    }

    /// Foundation requires it; a stream to memory belongs to no channel, so this one is at its end.
    required convenience init(toMemory: ()) {
        let channel = ChannelCore(credits: 0) { _ in }
        channel.handle(.closed)
        self.init(channel)
    }

    deinit {
        channel.events(.output).removeAll()
    }

    override var delegate: (any StreamDelegate)? {
        get { channel.events(.output).delegate }
        set { channel.events(.output).delegate = newValue }
    }

    override var streamStatus: Stream.Status { channel.withMachine { $0.phase(of: .output).status } }

    /// `EPIPE` once something was written to a channel that is no more.
    override var streamError: (any Error)? {
        guard streamStatus == .error else { return nil }
        return NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EPIPE.rawValue))
    }

    override var hasSpaceAvailable: Bool { channel.withMachine { $0.isReady(.output) } }

    override func open() { channel.open(.output) }
    override func close() { channel.close(.output) }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        channel.write(UnsafeRawBufferPointer(start: buffer, count: max(0, len)))
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard streamStatus != .closed else { return }
        channel.events(.output).schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        channel.events(.output).remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
