import BluetoothBackend
public import Foundation

/// A connection-oriented channel to a peer, as a pair of streams.
///
/// The streams arrive unopened: set their delegates, schedule them in a run loop and open them. They also work without
/// a run loop: `read` and `write` block until they can move bytes, and tell by `hasBytesAvailable` and
/// `hasSpaceAvailable` whether they would. Bytes come and go past the manager's queue, so that both may be called
/// within its callbacks.
///
/// Releasing the channel, or closing both streams, closes it. A channel that the peer closes, and one whose link is
/// lost, shows as the end of its streams. Source: Apple, CBL2CAPChannel.
open class CBL2CAPChannel: NSObject {
    /// The other side: a ``CBPeripheral`` on the client's side, a ``CBCentral`` on the server's.
    public let peer: CBPeer!

    /// What the other side sends.
    public let inputStream: InputStream!

    /// What this side sends.
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
        guard let core = table.take(id) else { return nil }
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
