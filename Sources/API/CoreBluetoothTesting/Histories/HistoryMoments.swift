import BluetoothBackend
import BluetoothEmulator

/// The moments of a run at which an incident may matter: the app's requests, their answers, and notifications.
struct HistoryMoments: Sendable {
    /// A request of the app, from the command to its answer.
    struct Request: Sendable {
        /// The command: `write`.
        var operation: String
        var device: PeerID?
        var begin: Duration
        /// The time of the answer; nil without one.
        var end: Duration?
    }

    /// A value that arrived.
    struct Notification: Sendable {
        var device: PeerID?
        var time: Duration
    }

    private(set) var requests: [Request] = []
    private(set) var notifications: [Notification] = []
    /// The faults that steps met.
    private(set) var faults: [(step: DeviceFault.Step, effect: DeviceFault.Effect)] = []
    /// The time of the last message.
    private(set) var end: Duration = .zero

    var hasAny: Bool { !requests.isEmpty || !notifications.isEmpty }

    init() {}

    init(_ messages: [CentralTraceMessage]) {
        var open: [OperationKey: Int] = [:]
        var peers: [LinkKey: PeerID] = [:]
        for message in messages {
            end = max(end, message.time)
            func key(_ peer: PeerID?, _ link: LinkID?, _ operation: OperationID) -> OperationKey {
                OperationKey(manager: message.manager, peer: peer, link: link, operation: operation)
            }
            func peer(of link: LinkID?) -> PeerID? {
                link.flatMap { peers[LinkKey(manager: message.manager, link: $0)] }
            }
            switch message.content {
            case .command(let command):
                guard let operation = command.operation else { break }
                open[key(command.peer, command.link, operation)] = requests.count
                let device = command.peer ?? peer(of: command.link)
                requests.append(Request(operation: command.kind.rawValue, device: device, begin: message.time))
            case .event(.valueNotified(let link, _, _)):
                notifications.append(Notification(device: peer(of: link), time: message.time))
            case .event(let event):
                var link = event.link
                if case .connected(let peer, let new, _, _) = event {
                    peers[LinkKey(manager: message.manager, link: new)] = peer
                    // The request named the peer alone.
                    link = nil
                }
                guard let operation = event.operation,
                    let index = open.removeValue(forKey: key(event.peer, link, operation))
                else { break }
                requests[index].end = message.time
            case .fault(let step, let effect): faults.append((step, effect))
            }
        }
    }

    private struct OperationKey: Hashable {
        var manager: UInt32
        var peer: PeerID?
        var link: LinkID?
        var operation: OperationID
    }

    private struct LinkKey: Hashable {
        var manager: UInt32
        var link: LinkID
    }
}
