import CoreBluetoothPackage

/// The streams of a channel that this side opened, on the main run loop.
@MainActor
final class ChannelStreams: NSObject {
    private let channel: CBL2CAPChannel
    private let session: Session
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    /// Called with the bytes that came.
    var onBytes: ((Data) -> Void)?
    /// Called when the channel has ended.
    var onEnd: (() -> Void)?

    init(_ channel: CBL2CAPChannel, session: Session) {
        self.channel = channel
        self.session = session
        super.init()
    }

    /// Opens the streams.
    func open() { channel.openStreams(delegate: self) }

    /// Closes the streams, and with them the channel.
    func close() { channel.closeStreams() }

    /// Sends bytes; waits where the other side takes no more.
    ///
    /// - Throws: That the channel is closed, or takes nothing in the time that a step has.
    func send(_ data: Data) async throws {
        var rest = [UInt8](data)
        while !rest.isEmpty {
            if !channel.outputStream.hasSpaceAvailable { try await session.perform(.channelSpace) }
            let count = channel.outputStream.write(rest, maxLength: rest.count)
            guard count >= 0 else { throw Failure(.failed, "the channel is closed") }
            rest.removeFirst(count)
        }
    }

    private func read() {
        while channel.inputStream.hasBytesAvailable {
            let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return }
            onBytes?(Data(buffer.prefix(count)))
        }
    }
}

extension ChannelStreams: @preconcurrency StreamDelegate {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .hasSpaceAvailable: session.answer(.channelSpace)
        case .endEncountered, .errorOccurred:
            read()
            session.answer(.channelSpace, error: Failure(.failed, "the channel is closed"))
            onEnd?()
        default: break
        }
    }
}
