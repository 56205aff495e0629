#if Emulator
import CoreBluetoothPackage
import Foundation

/// A channel that a central opened: counts what comes, and sends it back where the file says so.
@MainActor
final class ServedChannel: NSObject {
    let channel: CBL2CAPChannel
    /// How many bytes came.
    private(set) var received = 0
    private let isEcho: Bool
    private let ended: (ServedChannel) -> Void
    private var unsent = Data()
    private var buffer = [UInt8](repeating: 0, count: 16384)

    /// Opens the streams.
    ///
    /// - Parameter ended: Called once, when the channel is no more.
    init(_ channel: CBL2CAPChannel, isEcho: Bool, ended: @escaping (ServedChannel) -> Void) {
        self.channel = channel
        self.isEcho = isEcho
        self.ended = ended
        super.init()
        channel.openStreams(delegate: self)
    }

    /// Closes the streams, and with them the channel.
    func close() { channel.closeStreams() }

    /// Takes nothing more before what is to go back has gone: the central waits, and not our memory.
    private func move() {
        send()
        while unsent.isEmpty, channel.inputStream.hasBytesAvailable {
            let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return }
            received += count
            guard isEcho else { continue }
            unsent = Data(buffer.prefix(count))
            send()
        }
    }

    private func send() {
        while !unsent.isEmpty, channel.outputStream.hasSpaceAvailable {
            let bytes = [UInt8](unsent)
            let count = channel.outputStream.write(bytes, maxLength: bytes.count)
            guard count > 0 else { return }
            unsent = unsent.dropFirst(count)
        }
    }

    private func end() {
        close()
        ended(self)
    }
}

extension ServedChannel: @preconcurrency StreamDelegate {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable, .hasSpaceAvailable: move()
        case .endEncountered, .errorOccurred: if aStream === channel.inputStream { end() }
        default: break
        }
    }
}
#endif
