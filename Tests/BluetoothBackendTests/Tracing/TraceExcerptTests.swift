import BluetoothBackend
import BluetoothTracing
import Testing

/// Tests that an excerpt shows the devices that a program used, and counts the discoveries of the others.
struct TraceExcerptTests {
    private func entry(_ text: String, _ device: String? = nil) -> TraceEntry {
        TraceEntry(time: .zero, direction: .event, category: .callback, device: device, text: text)
    }

    private func lines(_ entries: [TraceEntry], limit: Int = 40) -> [String] {
        TraceExcerpt(entries, limit: limit).lines.map { $0.replacing("0.000000000 > ", with: "") }
    }

    @Test func discoveriesOfDevicesThatWereNotUsedAreOneLine() {
        let neighbors = (1...30).map { entry("discovered", "Tag \($0)") }
        let entries =
            [entry("stateChanged")] + neighbors + [entry("discovered", "Heart")] + neighbors
            + [entry("connected", "Heart")]
        #expect(
            lines(entries) == [
                "stateChanged", "… 30 lines about \"Tag 1\", \"Tag 2\", \"Tag 3\", \"Tag 4\", \"Tag 5\", …",
                "discovered",
                "… 30 lines about \"Tag 1\", \"Tag 2\", \"Tag 3\", \"Tag 4\", \"Tag 5\", …", "connected",
            ])
    }

    @Test func ofTheRepeatedDiscoveriesOfAUsedDeviceTheLastIsShown() {
        let entries =
            [entry("startScan")] + Array(repeating: entry("discovered", "Heart"), count: 5) + [
                entry("connect", "Heart")
            ]
        #expect(lines(entries) == ["startScan", "… 4 lines about \"Heart\"", "discovered", "connect"])
    }

    @Test func whereNothingWasUsedTheDiscoveriesAreNamed() {
        #expect(lines([entry("discovered", "Hart")]) == ["… 1 line about \"Hart\""])
        #expect(lines([]).isEmpty)
    }

    @Test func additionsAndNotesOfDevicesThatWereNotUsedAreCountedToo() {
        let added = TraceEntry(time: .zero, direction: .event, category: .simulation, device: "Tag", text: "added")
        let note = TraceEntry(time: .zero, category: .note, device: "Tag", text: "will not be discovered")
        #expect(lines([added, note, entry("connected", "Heart")]) == ["… 2 lines about \"Tag\"", "connected"])
        #expect(lines([added, note]) == ["added", "0.000000000 ! will not be discovered"])
    }

    @Test(arguments: 0...8)
    func itNeverHasMoreLinesThanTheLimit(_ limit: Int) {
        let entries = (1...20).flatMap {
            [entry("discovered", "Tag \($0)"), entry("discovered", "Heart"), entry("valueNotified", "Heart")]
        }
        #expect(lines(entries, limit: limit).count <= limit)
        #expect(limit == 0 || lines(entries, limit: limit).last == "valueNotified")
    }
}
