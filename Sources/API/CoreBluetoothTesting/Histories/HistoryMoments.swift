import BluetoothBackend
import BluetoothTracing

/// The moments of a run at which an incident may matter: the app's requests, their answers, and notifications.
struct HistoryMoments: Sendable {
    /// A request of the app, from the command to its answer.
    struct Request: Sendable {
        /// The command: `write`.
        var operation: String
        var device: String?
        var begin: Duration
        /// The time of the answer; nil without one.
        var end: Duration?
    }

    /// A value that arrived.
    struct Notification: Sendable {
        var device: String?
        var time: Duration
    }

    private(set) var requests: [Request] = []
    private(set) var notifications: [Notification] = []
    /// The time of the last line.
    private(set) var end: Duration = .zero

    init() {}

    init(_ trace: [TraceEntry]) {
        var open: [OperationKey: Int] = [:]
        for entry in trace {
            end = max(end, entry.time)
            if entry.name == "valueNotified" {
                notifications.append(Notification(device: entry.device, time: entry.time))
            }
            guard let operation = entry.operation else { continue }
            let key = OperationKey(place: entry.place, peer: entry.peer, operation: operation)
            if entry.direction == .command {
                open[key] = requests.count
                requests.append(Request(operation: entry.name, device: entry.device, begin: entry.time))
            } else if let index = open.removeValue(forKey: key) {
                requests[index].end = entry.time
            }
        }
    }

    private struct OperationKey: Hashable {
        var place: String
        var peer: PeerID?
        var operation: UInt64
    }
}
