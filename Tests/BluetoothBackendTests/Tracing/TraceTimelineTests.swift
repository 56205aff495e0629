import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import Foundation
import Testing

@testable import TraceReports

/// Tests that a timeline pairs commands with their answers, and becomes a page, a diagram or a file for Perfetto.
struct TraceTimelineTests {
    private let peer = PeerID(UUID())

    private func entry(
        _ milliseconds: Int, _ direction: TraceEntry.Direction, _ name: String, operation: UInt64? = nil,
        device: String? = "Heart", error: String? = nil, _ fields: String = ""
    ) -> TraceEntry {
        var entry = TraceEntry(
            time: .milliseconds(milliseconds), direction: direction, category: .command, host: "default",
            source: "central 1", device: device, text: fields.isEmpty ? name : "\(name) \(fields)")
        if device != nil { entry.peer = peer }
        (entry.operation, entry.error) = (operation, error)
        return entry
    }

    /// A scan, a connection, a read that fails, one that is not answered, a notification, and the end of the link.
    private var entries: [TraceEntry] {
        var discovered = entry(100, .event, "discovered")
        discovered.rssi = -60
        var failed = entry(360, .event, "operationFailed", operation: 2, error: "read: 5")
        failed.attribute = "180D/2A38"
        var read = entry(300, .command, "read", operation: 2)
        read.attribute = "180D/2A38"
        var notified = entry(400, .event, "valueNotified")
        (notified.attribute, notified.value, notified.meaning) = ("180D/2A37", Data([0, 72]), "72 bpm")
        return [
            entry(0, .event, "stateChanged", device: nil, "state=poweredOn"),
            entry(50, .command, "startScan", device: nil), discovered, entry(150, .command, "stopScan", device: nil),
            entry(150, .command, "connect", operation: 1),
            entry(200, .event, "connected", operation: 1, "operation=1 mtu=185"), read, failed, notified,
            entry(450, .command, "write", operation: 3),
            TraceEntry(time: .milliseconds(470), category: .note, device: "Heart", text: "\"Heart\": 2 packets lost"),
            entry(500, .event, "disconnected", "link=1:\"He art\" reason=timeout isReconnecting=false"),
        ]
    }

    @Test func aCommandAndItsAnswerAreABarWithItsOutcome() throws {
        let timeline = TraceTimeline(entries)
        #expect(timeline.lanes.map(\.title) == ["default central 1", "Heart"])
        let (role, device) = (timeline.lanes[0], timeline.lanes[1])
        #expect(role.spans.map(\.name) == ["scan"] && role.spans[0].end == .milliseconds(150))
        #expect(device.spans.map(\.name) == ["connect", "link", "read 180D/2A38", "write"])
        #expect(device.spans.map(\.outcome) == [.success, .failure, .failure, .open])
        #expect(device.spans.map(\.result) == ["mtu=185", "reason=timeout isReconnecting=false", "read: 5", ""])
        #expect(device.spans[2].end - device.spans[2].start == .milliseconds(60))
        #expect(device.spans[3].end == timeline.end, "an open bar ends with the trace")
        #expect(device.marks.map(\.name) == ["valueNotified 180D/2A37", "\"Heart\": 2 packets lost"])
        #expect(device.marks.map(\.detail) == ["0048 (72 bpm)", ""])
        #expect(device.sightings.map(\.rssi) == [-60])
    }

    @Test func aLinkThatAReleasedRoleEndsAndItsOperationsEndWithItsCommand() {
        let end = entry(480, .command, "disconnect"), later = entry(900, .event, "discovered")
        let spans = TraceTimeline(entries.dropLast() + [end, later]).lanes[1].spans
        #expect(spans.map(\.outcome) == [.success, .open, .failure, .open])
        #expect(spans[1].end == .milliseconds(480) && spans[3].end == .milliseconds(480))
        #expect(spans[1].lines == 5...11)
        let ended = entry(495, .event, "disconnected", "link=1:\"Heart\" reason=local isReconnecting=false")
        let answered = TraceTimeline(entries.dropLast() + [end, ended, later]).lanes[1].spans
        #expect(answered[1].outcome == .success && answered[1].end == .milliseconds(495))
    }

    @Test func anAttemptThatFollowsACancelledOneIsOpen() {
        let attempts = [
            entry(0, .command, "connect", operation: 1), entry(300, .command, "disconnect"),
            entry(400, .command, "connect", operation: 2), entry(500, .event, "discovered"),
        ]
        let spans = TraceTimeline(attempts).lanes[1].spans
        #expect(spans.map(\.outcome) == [.open, .open])
        #expect(spans.map(\.end) == [.milliseconds(300), .milliseconds(500)])
        #expect(spans.map(\.lines) == [0...1, 2...3])
    }

    @Test func anAdapterThatIsOffEndsLinksAndOperations() {
        let off = entry(700, .event, "stateChanged", device: nil, "state=poweredOff")
        let spans = TraceTimeline(entries.dropLast() + [off]).lanes[1].spans
        #expect(spans.map(\.outcome) == [.success, .failure, .failure, .failure])
        #expect(spans.last?.end == .milliseconds(700))
    }

    @Test func twoDevicesOfOneNameHaveTheirOwnLanes() {
        var other = entry(600, .event, "discovered")
        (other.peer, other.rssi) = (PeerID(UUID()), -70)
        #expect(TraceTimeline(entries + [other]).lanes.map(\.title) == ["default central 1", "Heart", "Heart"])
    }

    @Test func theLastEntriesAreShownAndTheOthersCounted() {
        let many = (0..<TraceTimeline.limit + 7).map { entry($0, .event, "valueNotified") }
        let timeline = TraceTimeline(many)
        #expect(timeline.omitted == 7 && timeline.begin == .milliseconds(7))
        #expect(TraceTimeline([]).lanes.isEmpty && TraceTimeline([]).mermaidDiagram() == "sequenceDiagram\n")
    }

    @Test func aDiagramHasAnArrowForEachStep() {
        #expect(
            TraceTimeline(entries).mermaidDiagram(lastSteps: 7) == """
                sequenceDiagram
                    participant P0 as default central 1
                    participant P1 as Heart
                    P0->>P1: read 180D/2A38
                    P1--xP0: read#58; 5, 60 ms
                    P1->>P0: valueNotified 180D/2A37 0048 (72 bpm)
                    P0->>P1: write
                    Note over P1: #34;Heart#34;#58; 2 packets lost
                    Note over P1: link ends#58; reason=timeout isReconnecting=false, 300 ms
                    Note over P1: write#58; no answer

                """)
    }

    @Test func aDiagramOfHostileNamesIsADiagram() {
        let hostile = entry(0, .event, "valueNotified", device: "a;b#c\nend\u{1}<x>")
        #expect(TraceTimeline([hostile]).mermaidDiagram().contains("participant P0 as a#59;b#35;c end #60;x#62;\n"))
    }

    @Test func aPerfettoFileHasAPairOfEventsForEachBar() throws {
        let text = TraceTimeline(entries).perfettoTrace()
        let file = try JSONDecoder().decode(PerfettoFile.self, from: Data(text.utf8))
        #expect(file.traceEvents.filter { $0.ph == "M" }.map(\.args?["name"]) == ["default central 1", "Heart"])
        let begins = file.traceEvents.filter { $0.ph == "b" }
        let ends = file.traceEvents.filter { $0.ph == "e" }
        #expect(begins.map(\.name) == ["scan", "connect", "link", "read 180D/2A38", "write"])
        #expect(begins.map(\.id) == ends.map(\.id) && Set(begins.map(\.id)).count == 5)
        #expect(begins.map(\.ts) == [50_000, 150_000, 200_000, 300_000, 450_000])
        #expect(ends.map(\.ts) == [150_000, 200_000, 500_000, 360_000, 500_000])
        #expect(text.split(separator: "\n").count == file.traceEvents.count + 2, "one event a line")
    }

    private struct PerfettoFile: Decodable {
        struct Event: Decodable {
            var ph: String
            var name: String
            var id: String?
            var ts: Double?
            var args: [String: String]?

            private enum CodingKeys: CodingKey { case ph, name, id, ts, args }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                ph = try fields.decode(String.self, forKey: .ph)
                name = try fields.decode(String.self, forKey: .name)
                id = try fields.decodeIfPresent(String.self, forKey: .id)
                ts = try fields.decodeIfPresent(Double.self, forKey: .ts)
                args = ph == "C" ? nil : try fields.decodeIfPresent([String: String].self, forKey: .args)
            }
        }

        var traceEvents: [Event]
    }

    // MARK: The page

    @Test func aPageLoadsNothingAndKeepsHostileTextAsData() throws {
        let hostile = entry(0, .event, "valueNotified", device: "</script><img src=x onerror=alert(1)>\u{2028}")
        let page = TraceTimeline([hostile]).htmlReport(title: "<b>&\"title\"")
        #expect(!page.contains("<img") && !page.contains("<b>") && !page.contains("\u{2028}"))
        let withoutNamespace = page.replacing("http://www.w3.org/2000/svg", with: "")
        for loaded in ["http:", "https:", "src=\"", "href=", "@import", "url("] {
            #expect(!withoutNamespace.contains(loaded), "\(loaded)")
        }
        #expect(page.contains("default-src 'none'"))
        let data = try #require(page.split(separator: "id=\"data\">").last?.split(separator: "</script>").first)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
        #expect(object["title"] as? String == "<b>&\"title\"")
        let lanes = try #require(object["lanes"] as? [[String: Any]])
        #expect(lanes.last?["title"] as? String == #"</script><img src=x onerror=alert(1)>\u{2028}"#)
    }

    @Test func aPageHasEveryLineBarAndMark() throws {
        let page = TraceTimeline(entries).htmlReport(title: "t")
        let data = try #require(page.split(separator: "id=\"data\">").last?.split(separator: "</script>").first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
        let lines = try #require(object["lines"] as? [[String: Any]])
        #expect(lines.map { $0["text"] as? String } == entries.map(\.description))
        #expect(object["failure"] is NSNull)
        let lanes = try #require(object["lanes"] as? [[String: Any]])
        #expect(lanes.map { ($0["spans"] as? [Any])?.count } == [1, 4])
        #expect(lanes.map { ($0["marks"] as? [Any])?.count } == [1, 2])
    }

    @Test func aPageHasTheIncidentsOfItsHistory() throws {
        func history(_ incidents: [String]) throws -> [String]? {
            var failure = TestFailure("two", at: "FeederTests.swift:9", from: .zero, to: .seconds(1))
            failure.history = incidents
            let page = TraceTimeline(entries).htmlReport(title: "t", failure: failure)
            let data = try #require(page.split(separator: "id=\"data\">").last?.split(separator: "</script>").first)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
            return (object["failure"] as? [String: Any])?["history"] as? [String]
        }
        let incidents = ["at 0 s: </script><b> disconnects", "at 1.5 s for 2 s: the adapter is off"]
        #expect(try history(incidents) == incidents)
        #expect(try history([]) == [])
    }

    @Test func aPageOfALongTraceShowsItsLastLinesInTwoHundredKilobytes() throws {
        let many = (0..<5_000).map { entry($0, .event, "valueNotified", device: "Heart \($0 % 7)") }
        let page = TraceTimeline(many).htmlReport(title: "t")
        #expect((100_000...TraceTimeline.pageLimit).contains(page.utf8.count))
        let data = try #require(page.split(separator: "id=\"data\">").last?.split(separator: "</script>").first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
        let lines = try #require(object["lines"] as? [[String: Any]])
        #expect(object["omitted"] as? Int == 5_000 - lines.count && lines.last?["time"] as? Double == 4.999)
    }

    @Test func barsAndMarksKnowTheirLines() {
        let device = TraceTimeline(entries).lanes[1]
        #expect(device.spans.map(\.lines) == [4...5, 5...11, 6...7, 9...11])
        #expect(device.marks.map(\.line) == [8, 10] && device.sightings.map(\.line) == [2])
    }

    @Test(arguments: [
        (Duration.milliseconds(48), "48 ms"), (.microseconds(350), "350 µs"), (.milliseconds(1_234), "1.2 s"),
        (.milliseconds(2_000), "2 s"), (.zero, "0 µs"), (.milliseconds(12_340), "12 s"),
    ])
    func aLatencyIsShort(_ duration: Duration, _ text: String) {
        #expect(duration.shortText == text)
    }
}
