import CoreBluetoothPackage
import Foundation

/// Both streams of a channel, on the main run loop.
@MainActor
extension CBL2CAPChannel {
    private var streams: [Stream] { [inputStream, outputStream] }

    /// Opens the streams.
    func openStreams(delegate: any StreamDelegate) {
        for stream in streams {
            stream.delegate = delegate
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    /// Closes the streams, and with them the channel.
    func closeStreams() {
        for stream in streams {
            stream.delegate = nil
            stream.remove(from: .main, forMode: .default)
            stream.close()
        }
    }
}
