import BluetoothBackend
import Foundation

/// The bytes that go over an L2CAP channel.
///
/// Foundation's rules: one thread at a time, `write` takes as much as there is room for and blocks while there is
/// none, the delegate is told on the run loops that the stream is scheduled in. It works without a run loop too, by
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

    override var streamStatus: Stream.Status { channel.phase(of: .output).status }

    /// `EPIPE` once something was written to a channel that is no more.
    override var streamError: (any Error)? {
        guard channel.phase(of: .output) == .failed else { return nil }
        return NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EPIPE.rawValue))
    }

    override var hasSpaceAvailable: Bool { channel.isReady(.output) }

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
