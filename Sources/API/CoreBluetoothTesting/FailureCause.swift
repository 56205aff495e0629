import BluetoothTracing
import CoreBluetoothClasses
import TraceReports

/// The reason why an expected callback did not come, as far as the trace shows it.
///
/// Pure. The first rule that applies gives the sentence.
struct FailureCause {
    private let expected: [DelegateCallback]
    private let trace: [TraceEntry]

    init(of expectation: CallbackLog.Expectation, in trace: [TraceEntry]) {
        expected = expectation.callbacks
        self.trace = trace
    }

    /// One sentence; nil if the trace shows no reason.
    var sentence: String? {
        adapterIsOff ?? missingRequest ?? lostLink ?? lastRequest
    }

    // MARK: The rules

    private var adapterIsOff: String? {
        let states = Dictionary(trace.filter { $0.name == "stateChanged" }.map { ($0.place, $0) }) { $1 }
        guard let last = states.values.max(by: { $0.time < $1.time }), !expects(.didUpdateState),
            states.values.allSatisfy({ !$0.text.hasSuffix("state=poweredOn") })
        else { return nil }
        return "The adapter's state has been \(last.text.drop { $0 != "=" }.dropFirst()) since \(last.time.inWords)."
    }

    /// The request without which a callback cannot come, unless its line may be among those that the trace has dropped.
    private var missingRequest: String? {
        let roles = Set(trace.filter { $0.category != .simulation && $0.category != .note }.map(\.place))
        let begun = Set(trace.filter { $0.name == "activate" }.map(\.place))
        return roles.isSubset(of: begun) ? expected.lazy.compactMap(missingRequest).first : nil
    }

    private func missingRequest(_ callback: DelegateCallback) -> String? {
        switch callback.method {
        case .didDiscover:
            guard let last = trace.last(where: { ["startScan", "stopScan"].contains($0.name) }) else {
                return "The app did not scan."
            }
            if last.name == "stopScan" { return "The app stopped its scan at \(last.time.inWords)." }
            return trace.contains { $0.name == "discovered" } ? nil : "No device advertised in range of the scan."
        case .didConnect: return has("connect") ? nil : "The app did not connect."
        case .didDiscoverServices:
            return isConnected && !has("discoverServices") ? "The app did not discover services." : nil
        case .didDiscoverCharacteristics:
            return isConnected && !has("discoverCharacteristics") ? "The app did not discover characteristics." : nil
        case .didUpdateValue where callback.isFailure == nil: return isConnected ? missingSubscription(callback) : nil
        case .didWriteValue:
            return isConnected && !has("write", of: callback) ? "The app did not write with a response." : nil
        case .didReadRSSI: return isConnected && !has("readRSSI") ? "The app did not read the signal strength." : nil
        case .didSubscribe, .didReceiveRead, .didReceiveWrite:
            return has("startAdvertising") ? nil : "The app did not advertise."
        default: return nil
        }
    }

    private func missingSubscription(_ callback: DelegateCallback) -> String? {
        let attribute = callback.attribute.map { $0.uuidString } ?? "any characteristic"
        guard !has("read", of: callback) else { return nil }
        guard let last = trace.last(where: { $0.name == "setNotifying" && concerns($0, callback) }) else {
            return "The app neither subscribed to \(attribute) nor read it."
        }
        return last.text.hasSuffix("enabled=false") ? "The app ended its subscription at \(last.time.inWords)." : nil
    }

    private var lostLink: String? {
        guard expected.contains(where: { $0.method.needsLink }),
            let last = trace.last(where: { ["connected", "disconnected"].contains($0.name) }),
            last.name == "disconnected"
        else { return nil }
        let reason = last.reason.map { " (\($0))" } ?? ""
        return "The link to \(last.device ?? "the device") ended at \(last.time.inWords)\(reason)."
    }

    /// The last request without an answer, or else the last one that failed.
    private var lastRequest: String? {
        let requests = TraceTimeline(trace).lanes.filter { $0.kind == .device }
            .flatMap { lane in lane.spans.map { (span: $0, device: lane.title) } }
            .filter { [.operation, .connecting].contains($0.span.kind) }
            .sorted { $0.span.lines.lowerBound < $1.span.lines.lowerBound }
        if let (span, device) = requests.last(where: { $0.span.outcome == .open }) {
            return "\(span.name) to \(device), of \(span.start.inWords), has no answer."
        }
        return requests.last { $0.span.outcome == .failure }.map { span, device in
            "\(span.name) to \(device) failed at \(span.end.inWords): \(span.result)."
        }
    }

    // MARK: The trace

    private var isConnected: Bool {
        trace.last { ["connected", "disconnected"].contains($0.name) }?.name == "connected"
    }

    private func expects(_ method: DelegateMethod) -> Bool { expected.contains { $0.method == method } }

    private func has(_ command: String, of callback: DelegateCallback? = nil) -> Bool {
        trace.contains { $0.name == command && concerns($0, callback) }
    }

    private func concerns(_ entry: TraceEntry, _ callback: DelegateCallback?) -> Bool {
        guard let uuid = callback?.attribute?.uuidString else { return true }
        return entry.attribute?.split(separator: "/").contains { $0 == uuid } ?? false
    }
}

extension TraceEntry {
    /// The reason for the end of a link.
    fileprivate var reason: Substring? {
        text.split(separator: " ").first { $0.hasPrefix("reason=") }?.dropFirst("reason=".count)
    }
}

extension DelegateMethod {
    /// Whether the callback reports something of a connected device.
    fileprivate var needsLink: Bool {
        switch self {
        case .didModifyServices, .didReadRSSI, .didDiscoverServices, .didDiscoverIncludedServices,
            .didDiscoverCharacteristics, .didDiscoverDescriptors, .didUpdateValue, .didWriteValue,
            .didUpdateNotificationState, .didUpdateDescriptorValue, .didWriteDescriptorValue,
            .isReadyToSendWriteWithoutResponse:
            true
        default: false
        }
    }
}
