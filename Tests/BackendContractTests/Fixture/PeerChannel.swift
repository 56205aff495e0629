import BluetoothBackend
import Foundation

/// A channel of a central across the emulated air: received bytes, and bytes that wait for credits.
struct PeerChannel: Sendable {
    var id: ChannelID?
    var credits = 0
    /// The number of received bytes; all match the pattern while `isIntact`.
    private(set) var received = 0
    private(set) var isIntact = true
    private var consumed = 0
    private var toSend = 0
    private var sent = 0

    mutating func receive(_ data: Data) {
        isIntact = isIntact && ChannelPattern.matches(data, at: received)
        received += data.count
    }

    mutating func send(_ count: Int) { toSend += count }

    /// Returns the commands that are possible now.
    mutating func commands() -> [CentralCommand] {
        guard let id else { return [] }
        var commands: [CentralCommand] = []
        if received > consumed {
            commands.append(.channel(id, .consumed(received - consumed)))
            consumed = received
        }
        let count = min(credits, toSend - sent, ChannelPattern.longest)
        if count > 0 {
            commands.append(.channel(id, .send(ChannelPattern.bytes(from: sent, count: count))))
            sent += count
            credits -= count
        }
        return commands
    }
}
