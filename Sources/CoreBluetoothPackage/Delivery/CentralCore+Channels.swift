import BluetoothBackend
import Foundation

/// The mailbox's mouth: what has to do with channels acts at once, all else waits for the manager's queue.
extension CentralCore {
    func deliver(_ event: CentralEvent) { append(event)?.start() }

    func append(_ event: CentralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channelReceived(let channel, let data):
            channels[channel]?.receive(data)
            return nil
        case .channelCredits(let channel, let count):
            channels[channel]?.grant(count)
            return nil
        case .channelClosed(let channel):
            channels[channel]?.endRemotely()
            return nil
        case .channelOpened(let link, _, let channel, let credits):
            channels.open(channel, from: .link(link), credits: credits) { [weak self] in self?.submit($0, on: channel) }
        case .disconnected(let link, _, _, _): channels.end(on: link)
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }

    private func submit(_ command: ChannelMachine.Command, on channel: ChannelID) {
        transition { _ in [.submit(command.onRadio(channel))] }
    }
}
