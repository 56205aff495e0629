import BluetoothBackend
import BluetoothSupport
public import BluetoothTracing

/// The course of a trace over time: links, operations with their latency, notifications, signal strength, faults.
///
/// Convert it to a page with ``htmlReport(title:)``, to a diagram with ``mermaidDiagram(lastSteps:)``, or to a file for
/// Perfetto's viewer with ``perfettoTrace()``. Entries may come from an emulator, from a `TracingBackend` or from a
/// file of JSON lines.
public struct TraceTimeline: Sendable {
    /// A process with a duration: an operation, a link, a scan.
    package struct Span: Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case scan, connecting, link, operation
        }

        package enum Outcome: String, Codable, Sendable {
            case success, failure
            /// It has not ended within the trace.
            case open
        }

        package var kind: Kind
        package var start: Duration
        /// The end; for an open span, that of the trace.
        package var end: Duration
        /// The positions of its first and last line among the entries.
        package var lines: ClosedRange<Int>
        package var outcome = Outcome.open
        /// The name in a few words: `read 180D/2A38`.
        package var name: String
        /// The result: a value with its meaning, or an error; empty while open.
        package var result = ""
        /// The role of the span: `default central 1`.
        package var role: String
    }

    /// An event at an instant.
    package struct Mark: Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case notification, event, command, control, note
        }

        package var kind: Kind
        package var time: Duration
        /// The position of its line among the entries.
        package var line: Int
        package var name: String
        package var detail: String
        /// The role of the mark; empty for controls and notes.
        package var role: String
    }

    /// A packet of a device that a scan reported.
    package struct Sighting: Hashable, Sendable {
        package var time: Duration
        /// The position of its line among the entries.
        package var line: Int
        package var rssi: Int
    }

    /// A role, a host or a device, with its spans, marks and sightings.
    package struct Lane: Sendable {
        package enum Kind: String, Codable, Sendable {
            case role, device
        }

        package var kind: Kind
        package var title: String
        package var spans: [Span] = []
        package var marks: [Mark] = []
        package var sightings: [Sighting] = []
    }

    package let entries: [TraceEntry]
    package let lanes: [Lane]
    package let begin: Duration
    package let end: Duration
    /// The number of earlier entries that were omitted.
    package let omitted: Int

    /// The largest number of entries in a timeline, which shows the last ones.
    package static let limit = 20_000

    /// Creates the timeline of the last 20,000 of these entries.
    public init(_ entries: [TraceEntry]) { self.init(entries, last: Self.limit) }

    /// Creates the timeline of the last `count` entries, of which `omitted` earlier ones are missing already.
    init(_ entries: [TraceEntry], last count: Int, omitted: Int = 0) {
        self.entries = entries.suffix(count)
        self.omitted = omitted + entries.count - self.entries.count
        begin = self.entries.map(\.time).min() ?? .zero
        end = self.entries.map(\.time).max() ?? .zero
        var builder = TimelineBuilder(self.entries)
        lanes = builder.build(until: end)
    }
}

extension Duration {
    /// The duration as `48 ms`, `1.2 s` or `350 µs`.
    var shortText: String {
        func rounded(_ value: Double) -> String {
            let tenths = (value * 10).rounded() / 10
            return tenths >= 10 || tenths == tenths.rounded() ? "\(Int(tenths.rounded()))" : "\(tenths)"
        }
        let seconds = inSeconds
        if seconds >= 1 { return rounded(seconds) + " s" }
        return seconds >= 0.001 ? rounded(seconds * 1e3) + " ms" : rounded(seconds * 1e6) + " µs"
    }
}
