public import Foundation

/// A connection-oriented channel to a peer, as a pair of streams.
///
/// The streams arrive unopened: set their delegates, schedule them and open them. Releasing the channel closes it.
/// Source: Apple, CBL2CAPChannel.
open class CBL2CAPChannel: NSObject {
    /// The other side: a ``CBPeripheral`` on the client's side, a ``CBCentral`` on the server's.
    public let peer: CBPeer!

    /// What the other side sends.
    public let inputStream: InputStream!

    /// What this side sends.
    public let outputStream: OutputStream!

    /// The channel's number.
    public let psm: CBL2CAPPSM

    /// Makes a channel of a pair of streams.
    init(peer: CBPeer, inputStream: InputStream, outputStream: OutputStream, psm: CBL2CAPPSM) {
        self.peer = peer
        self.inputStream = inputStream
        self.outputStream = outputStream
        self.psm = psm
        super.init()
    }
}
