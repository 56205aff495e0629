import BluetoothBackend
import BluetoothSupport
public import Foundation

/// A connection-oriented channel to a peer, as a pair of streams.
///
/// The streams arrive unopened: set their delegates, schedule them in a run loop and open them. They also work without
/// a run loop: `read` and `write` block until they can move bytes, and `hasBytesAvailable` and `hasSpaceAvailable` show
/// whether they can. Bytes bypass the manager's queue, so both may be called within its callbacks.
///
/// Releasing the channel, or closing both streams, closes it. If the peer closes the channel, or its link is lost, its
/// streams end. Source: Apple, CBL2CAPChannel.
open class CBL2CAPChannel: NSObject {
    /// The other side: a ``CBPeripheral`` on the client's side, a ``CBCentral`` on the server's.
    public let peer: CBPeer!

    /// The bytes that the other side sends.
    public let inputStream: InputStream!

    /// The bytes that this side sends.
    public let outputStream: OutputStream!

    /// The channel's number.
    public let psm: CBL2CAPPSM

    /// Whether the channel ended with its link rather than by a close of the other side; known as soon as the streams
    /// end.
    package var hasLostLink: Bool { core.hasLostLink }

    /// Schedules both streams in a run loop that runs until the process ends, so that virtual time waits for their events.
    package func schedule(inEndless loop: RunLoop) {
        for side in ChannelMachine.Side.allCases {
            core.events(side).schedule(in: loop, forMode: .default, isEndless: true)
        }
    }

    private let core: ChannelCore
    private let id: ChannelID
    private let table: ChannelTable

    /// Creates the object of an open channel; nil if the channel was released already.
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

/// The protocol/service multiplexer of an L2CAP channel: 0x80 to 0xFF if the system chooses it.
///
/// Sources: Apple, CBL2CAPPSM; Core Specification, Vol 3, Part A, 4.22.
public typealias CBL2CAPPSM = UInt16

/// The bytes that come over an L2CAP channel.
///
/// Foundation's rules: one thread at a time, `read` blocks while the buffer is empty, the delegate is called on the run
/// loops that the stream is scheduled in. It also works without a run loop, by means of `hasBytesAvailable`. The
/// boundaries of the peer's packets are lost. Source: Apple, InputStream; Core Specification, Vol 3, Part A, 10.
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

    /// Always false: the bytes are in pieces; read them instead.
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
/// Foundation's rules: one thread at a time, `write` takes as much as there is room for and blocks without room, the
/// delegate is called on the run loops that the stream is scheduled in. It also works without a run loop, by means of
/// `hasSpaceAvailable`. Source: Apple, OutputStream; Core Specification, Vol 3, Part A, 10.
final class L2CAPOutputStream: OutputStream {
    private let channel: ChannelCore

    init(_ channel: ChannelCore) {
        self.channel = channel
        super.init(toMemory: ())
        channel.events(.output).attach(self)
    }

    /// Creates a stream that is at its end: Foundation requires this initializer, and a stream to memory belongs to no
    /// channel.
    required convenience init(toMemory: ()) {
        let channel = ChannelCore(credits: 0, clock: SystemClock()) { _ in }
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

    /// The error `EPIPE` once something was written to a closed channel.
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
