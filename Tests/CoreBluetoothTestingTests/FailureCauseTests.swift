import BluetoothBackend
import BluetoothTracing
import CoreBluetoothClasses
import Foundation
import Testing

@testable import CoreBluetoothTesting

/// The sentence that explains why an expected callback did not come.
@Suite struct FailureCauseTests {
    private let peer = PeerID(UUID())

    private func entry(
        _ seconds: Int, _ direction: TraceEntry.Direction, _ name: String, operation: UInt64? = nil,
        attribute: String? = nil, error: String? = nil, _ fields: String = ""
    ) -> TraceEntry {
        var entry = TraceEntry(
            time: .seconds(seconds), direction: direction, category: .command, host: "default", source: "central 1",
            device: "Heart", text: fields.isEmpty ? name : "\(name) \(fields)")
        (entry.peer, entry.operation, entry.attribute, entry.error) = (peer, operation, attribute, error)
        return entry
    }

    private var on: [TraceEntry] {
        [entry(0, .command, "activate"), entry(0, .event, "stateChanged", "state=poweredOn")]
    }

    private var connection: [TraceEntry] {
        on + [
            entry(1, .command, "startScan"), entry(1, .event, "discovered"), entry(2, .command, "stopScan"),
            entry(2, .command, "connect", operation: 1), entry(3, .event, "connected", operation: 1),
        ]
    }

    private func cause(_ expected: DelegateCallback..., in trace: [TraceEntry]) -> String? {
        FailureCause(of: CallbackLog.Expectation(callbacks: expected), in: trace).sentence
    }

    @Test func anAdapterThatIsOffIsTheReasonForEverything() {
        let off = entry(9, .event, "stateChanged", "state=poweredOff")
        #expect(cause(.didDiscover, in: on + [off]) == "The adapter's state has been poweredOff since 9 s.")
        #expect(cause(.didUpdateState, in: on + [off]) == nil)
    }

    @Test func aDeviceIsOnlyDiscoveredWhileTheAppScans() {
        #expect(cause(.didDiscover, in: on) == "The app did not scan.")
        #expect(cause(.didDiscover, in: connection) == "The app stopped its scan at 2 s.")
        #expect(cause(.didDiscover, in: Array(connection.dropFirst())) == nil, "earlier lines may be missing")
        let scan = on + [entry(1, .command, "startScan")]
        #expect(cause(.didDiscover, in: scan) == "No device advertised in range of the scan.")
        #expect(cause(.didDiscover, in: scan + [entry(2, .event, "discovered")]) == nil)
    }

    @Test func aConnectionNeedsARequestAndAnAnswer() {
        #expect(cause(.didConnect, in: on) == "The app did not connect.")
        #expect(
            cause(.didConnect, in: connection.dropLast()) == "connect to Heart, of 2 s, has no answer.")
    }

    @Test func aValueNeedsASubscriptionOrARead() {
        let expected = DelegateCallback.didUpdateValue.of("2A37")
        let neither = "The app neither subscribed to 2A37 nor read it."
        #expect(cause(expected, in: connection) == neither)
        let other = entry(4, .command, "setNotifying", operation: 2, attribute: "180F/2A19", "enabled=true")
        let answer = entry(5, .event, "notifyingChanged", operation: 2)
        #expect(cause(expected, in: connection + [other, answer]) == neither)
        #expect(cause(.didUpdateValue, in: connection + [other, answer]) == nil)
        let end = entry(6, .command, "setNotifying", operation: 3, attribute: "180F/2A19", "enabled=false")
        #expect(
            cause(.didUpdateValue.of("2A19"), in: connection + [other, answer, end])
                == "The app ended its subscription at 6 s.")
        let read = entry(4, .command, "read", operation: 4, attribute: "180D/2A37")
        #expect(cause(expected, in: connection + [read]) == "read 180D/2A37 to Heart, of 4 s, has no answer.")
        let failure = entry(5, .event, "operationFailed", operation: 4, error: "read: 5")
        #expect(
            cause(expected, in: connection + [read, failure]) == "read 180D/2A37 to Heart failed at 5 s: read: 5.")
    }

    @Test func aLinkThatEndedIsTheReasonForWhatNeedsOne() {
        let trace = connection + [entry(7, .event, "disconnected", "link=1 reason=timeout isReconnecting=false")]
        #expect(cause(.didUpdateValue, in: trace) == "The link to Heart ended at 7 s (timeout).")
        #expect(cause(.didDisconnectPeripheral, in: trace) == nil)
    }

    @Test func aCentralFindsOnlyAnAppThatAdvertises() {
        #expect(cause(.didSubscribe, in: on) == "The app did not advertise.")
        #expect(cause(.didSubscribe, in: on + [entry(1, .command, "startAdvertising")]) == nil)
    }
}
