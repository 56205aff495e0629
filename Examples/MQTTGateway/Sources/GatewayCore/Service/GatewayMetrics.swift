import Synchronization

/// The counts of a gateway, and their text for Prometheus.
package final class GatewayMetrics: Sendable {
    /// The counters, with their names and help texts.
    package enum Counter: String, CaseIterable, Sendable {
        case received = "gateway_values_received_total"
        case droppedInterval = "gateway_values_dropped_interval_total"
        case droppedMalformed = "gateway_values_dropped_malformed_total"
        case droppedSlow = "gateway_values_dropped_slow_total"
        case droppedAdvertised = "gateway_values_dropped_advertised_total"
        case droppedUnwritten = "gateway_values_dropped_unwritten_total"
        case delayed = "gateway_values_delayed_total"
        case droppedFullQueue = "gateway_messages_dropped_full_queue_total"
        case droppedRefused = "gateway_messages_dropped_refused_total"
        case transactions = "gateway_queue_transactions_total"
        case published = "gateway_messages_published_total"
        case acknowledged = "gateway_messages_acknowledged_total"
        case connections = "gateway_broker_connections_total"
        case commandsDone = "gateway_commands_done_total"
        case commandsRefused = "gateway_commands_refused_total"

        fileprivate var help: String {
            switch self {
            case .received: "Values that devices sent, or that were read."
            case .droppedInterval: "Values dropped because the minimum interval had not passed."
            case .droppedMalformed: "Values dropped because their format does not fit."
            case .droppedSlow: "Values dropped because the queue was too slow to take them."
            case .droppedAdvertised: "Values of advertisements left out for newer ones, or for the limits of a device."
            case .droppedUnwritten: "Values dropped because the file of the queue could not be written."
            case .delayed: "Values that waited because the file of the queue was too slow."
            case .droppedFullQueue: "Messages dropped because the queue was full."
            case .droppedRefused: "Messages dropped because no broker can be sent them."
            case .transactions: "Transactions that wrote messages into the file of the queue, or removed them."
            case .published: "Messages of the queue that were handed to the MQTT client."
            case .acknowledged: "Messages of the queue that the broker acknowledged."
            case .connections: "Connections that the broker accepted."
            case .commandsDone: "Commands that devices accepted."
            case .commandsRefused: "Commands that were refused, or failed."
            }
        }
    }

    private struct State {
        var counts: [Counter: Int] = [:]
        var queueRows = 0
        var isBrokerConnected = false
        var advertisingDevices = 0
        var connectedDevices: Set<String> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds to a counter.
    package func add(_ counter: Counter, _ number: Int = 1) {
        state.withLock { $0.counts[counter, default: 0] += number }
    }

    /// Returns the present count.
    package func count(_ counter: Counter) -> Int { state.withLock { $0.counts[counter, default: 0] } }

    package func setQueueRows(_ rows: Int) { state.withLock { $0.queueRows = rows } }
    package var queueRows: Int { state.withLock { $0.queueRows } }

    package func setAdvertisingDevices(_ number: Int) { state.withLock { $0.advertisingDevices = number } }
    package var advertisingDevices: Int { state.withLock { $0.advertisingDevices } }

    /// Sets the total number of advertised values that were omitted.
    package func setDroppedAdvertised(_ number: Int) { state.withLock { $0.counts[.droppedAdvertised] = number } }

    package func setBrokerConnected(_ isConnected: Bool) { state.withLock { $0.isBrokerConnected = isConnected } }
    package var isBrokerConnected: Bool { state.withLock { $0.isBrokerConnected } }

    package func setConnected(_ isConnected: Bool, device: String) {
        state.withLock { state in
            if isConnected { state.connectedDevices.insert(device) } else { state.connectedDevices.remove(device) }
        }
    }
    package var connectedDevices: Int { state.withLock { $0.connectedDevices.count } }

    /// The text format of Prometheus.
    ///
    /// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
    package var text: String {
        let state = state.withLock(\.self)
        let counters = Counter.allCases.map { Self.text($0.rawValue, "counter", $0.help, state.counts[$0, default: 0]) }
        let gauges = [
            ("gateway_queue_rows", "Messages in the queue.", state.queueRows),
            ("gateway_broker_connected", "Whether the broker is connected: 1 or 0.", state.isBrokerConnected ? 1 : 0),
            ("gateway_devices_connected", "Devices that are connected.", state.connectedDevices.count),
            ("gateway_devices_advertising", "Devices whose advertisements are published.", state.advertisingDevices),
        ].map { Self.text($0, "gauge", $1, $2) }
        return (counters + gauges).joined()
    }

    private static func text(_ name: String, _ type: String, _ help: String, _ value: Int) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(value)\n"
    }
}
