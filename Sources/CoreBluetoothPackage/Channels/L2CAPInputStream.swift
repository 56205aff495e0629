import Foundation

/// The bytes that come over an L2CAP channel.
///
/// Foundation's rules: one thread at a time, `read` blocks while there is nothing, the delegate is told on the run
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

    override var streamStatus: Stream.Status { channel.phase(of: .input).status }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { channel.isReady(.input) }

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
