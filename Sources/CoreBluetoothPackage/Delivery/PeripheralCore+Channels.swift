import BluetoothBackend
import Foundation

/// The mailbox's mouth: what has to do with channels acts at once, all else waits for the manager's queue.
extension PeripheralCore {
    func deliver(_ event: PeripheralEvent) { append(event)?.start() }

    func append(_ event: PeripheralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channelReceived(let channel, let data):
            channels[channel]?.receive(data)
            return nil
        case .channelCredits(let channel, let count):
            channels[channel]?.grant(count)
            return nil
        case .channelClosed(let channel):
            channels[channel]?.endRemotely()
            // The app knows it, and its streams tell; otherwise this takes back what waits for the queue.
            guard channels.keepsUntaken(channel) else { return nil }
        case .channelOpened(let channel, let psm, _, let credits):
            channels.open(channel, from: .psm(psm), credits: credits) { [weak self] in self?.submit($0, on: channel) }
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }

    private func submit(_ command: ChannelMachine.Command, on channel: ChannelID) {
        transition { _ in [.submit(command.onRadio(channel))] }
    }
}
