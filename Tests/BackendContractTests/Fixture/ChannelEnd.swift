import BluetoothSupport
import CoreBluetooth
import Synchronization

/// The app's end of a channel: it sends and checks without a run loop, and never blocks.
final class ChannelEnd: Sendable {
    private struct State {
        var toSend = 0
        var sent = 0
        var received = 0
        var isIntact = true
        var channel: Carried<CBL2CAPChannel>?
    }

    // Invariant: the streams are used under this lock.
    private let state = Lock(State())

    /// Opens the streams of a channel.
    init(_ channel: Carried<CBL2CAPChannel>) {
        channel.object.inputStream.open()
        channel.object.outputStream.open()
        state.withLock { $0.channel = channel }
    }

    /// The number of received bytes; -1 if one differed from the pattern.
    var received: Int { state.withLock { $0.isIntact ? $0.received : -1 } }

    /// The number of bytes that the stream accepted.
    var sent: Int { state.withLock { $0.sent } }

    /// Whether both streams are at their end.
    var isAtEnd: Bool {
        state.withLock { state in
            guard let channel = state.channel?.object else { return true }
            return channel.inputStream.streamStatus == .atEnd && channel.outputStream.streamStatus == .atEnd
        }
    }

    /// Sends this many further bytes, as the channel accepts them.
    func send(_ count: Int) { state.withLock { $0.toSend += count } }

    func close() {
        state.withLock { state in
            state.channel?.object.inputStream.close()
            state.channel?.object.outputStream.close()
        }
    }

    /// Releases the channel.
    func release() { state.withLock { $0.channel = nil } }

    /// Sends and receives as much as the streams allow now.
    func pump() {
        state.withLock { state in
            guard let channel = state.channel?.object else { return }
            while state.sent < state.toSend, channel.outputStream.hasSpaceAvailable {
                let data = ChannelPattern.bytes(from: state.sent, count: state.toSend - state.sent)
                let count = data.withUnsafeBytes { bytes in
                    bytes.baseAddress.map {
                        channel.outputStream.write($0.assumingMemoryBound(to: UInt8.self), maxLength: bytes.count)
                    } ?? 0
                }
                guard count > 0 else { return }
                state.sent += count
            }
            var buffer = [UInt8](repeating: 0, count: ChannelPattern.longest)
            while channel.inputStream.hasBytesAvailable {
                let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
                guard count > 0 else { return }
                let isIntact = ChannelPattern.matches(Data(buffer.prefix(count)), at: state.received)
                state.isIntact = state.isIntact && isIntact
                state.received += count
            }
        }
    }
}
