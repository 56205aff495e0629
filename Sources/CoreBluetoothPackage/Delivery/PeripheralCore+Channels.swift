import BluetoothBackend
import Foundation

/// The mailbox's mouth: what has to do with channels acts at once, all else waits for the manager's queue.
extension PeripheralCore {
    func deliver(_ event: PeripheralEvent) {
        switch event {
        case .channelReceived(let channel, let data):
            channels[channel]?.receive(data)
            return
        case .channelCredits(let channel, let count):
            channels[channel]?.grant(count)
            return
        case .channelClosed(let channel):
            channels[channel]?.endRemotely()
            return
        case .channelOpened(let channel, let psm, _, let credits):
            channels.open(channel, from: .psm(psm), credits: credits) { [weak self] in self?.submit($0, on: channel) }
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        inbox.post(.event(event), for: self)
    }

    private func submit(_ command: ChannelMachine.Command, on channel: ChannelID) {
        transition { _ in [.submit(command.onRadio(channel))] }
    }
}
