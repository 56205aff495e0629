import BluetoothBackend
import Foundation

/// Delivery entry point: channel events bypass the inbox, all other events wait for the manager's queue.
extension CentralCore {
    func deliver(_ event: CentralEvent) { append(event)?.start() }

    func append(_ event: CentralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channel(let channel, let event):
            channels[channel]?.handle(event)
            return nil
        case .response(let link, _, .channel(let channel, let credits)):
            channels.open(channel, from: .link(link), credits: credits) { [weak self] command in
                self?.transition { _ in [.submit(.channel(channel, command))] }
            }
        case .disconnected(let link, _, _, _): channels.end(on: link)
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }
}
