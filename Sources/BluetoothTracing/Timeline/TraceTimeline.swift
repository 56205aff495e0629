import BluetoothBackend
import BluetoothSupport

/// What the entries of a trace show over time: links, operations with their latency, notifications, signal strength, faults.
///
/// Write it as a page with ``htmlReport(title:)``, as a diagram with ``mermaidDiagram(lastSteps:)``, or as a file for Perfetto's
/// viewer with ``perfettoTrace()``. Entries may come from an emulator, from a `TracingBackend` or from a file of JSON lines.
public struct TraceTimeline: Sendable {
    /// A thing that takes time: an operation, a link, a scan.
    package struct Span: Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case scan, connecting, link, operation
        }

        package enum Outcome: String, Codable, Sendable {
            case success, failure
            /// The trace ends before it does.
            case open
        }

        package var kind: Kind
        package var start: Duration
        /// The end of the trace for an open one.
        package var end: Duration
        package var outcome = Outcome.open
        /// What it is, in a word or two: `read 180D/2A38`.
        package var name: String
        /// The result: a value with its meaning, or an error; empty while open.
        package var result = ""
        /// The role that it belongs to: `default central 1`.
        package var role: String
    }

    /// A thing that happens at an instant.
    package struct Mark: Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case notification, event, command, control, note
        }

        package var kind: Kind
        package var time: Duration
        package var name: String
        package var detail: String
        /// The role that it belongs to; empty for controls and notes.
        package var role: String
    }

    /// A packet of a device that a scan reported.
    package struct Sighting: Hashable, Sendable {
        package var time: Duration
        package var rssi: Int
    }

    /// A role, a host or a device, with all that it does.
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
    /// The number of entries before the first one that were left out.
    package let omitted: Int

    /// The number of entries that a timeline shows at most: the last ones.
    package static let limit = 20_000

    /// The timeline of the last 20,000 of these entries.
    public init(_ entries: [TraceEntry]) {
        self.entries = entries.suffix(Self.limit)
        omitted = entries.count - self.entries.count
        begin = self.entries.map(\.time).min() ?? .zero
        end = self.entries.map(\.time).max() ?? .zero
        var builder = TimelineBuilder(self.entries)
        lanes = builder.build(until: end)
    }
}

extension Duration {
    /// `48 ms`, `1.2 s`, `350 µs`.
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
