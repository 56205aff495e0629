import BluetoothBackend
import Foundation

/// Delivery entry point: channel events bypass the inbox, all other events wait for the manager's queue.
extension PeripheralCore {
    func deliver(_ event: PeripheralEvent) { append(event)?.start() }

    func append(_ event: PeripheralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channel(let channel, let channelEvent):
            channels[channel]?.handle(channelEvent)
            // An app that has the channel learns of its end from the streams; for other channels, the event cancels
            // the delivery that waits for the queue.
            guard channelEvent == .closed, channels.keepsUntaken(channel) else { return nil }
        case .channelOpened(let channel, let psm, _, let credits):
            channels.open(channel, from: .psm(psm), credits: credits) { [weak self] command in
                self?.transition { _ in [.submit(.channel(channel, command))] }
            }
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }
}
