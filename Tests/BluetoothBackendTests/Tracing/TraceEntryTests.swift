import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import Foundation
import Testing

/// Tests that an entry is a line of text, and an object in JSON.
struct TraceEntryTests {
    /// Returns the entries of a heart rate monitor that is discovered and notifies.
    private func entries() throws -> [TraceEntry] {
        let base = TestBackend()
        let backend = TracingBackend(around: base, to: .memory, showsValues: true)
        let central = backend.makeCentral(RoleOptions(adapter: "hci1"))
        central.activate(TestSink<CentralEvent>())
        let (link, operation) = (Samples.link, Samples.operation)
        base.central.role.deliver(
            .discovered(Samples.discovery),
            .connected(
                peer: Samples.peer, link: link, operation: operation,
                parameters: LinkParameters(mtu: 185, writeCredits: 4)),
            .response(link: link, operation: operation, .services([Samples.service])))
        central.submit(
            .request(link: link, operation: operation, .discoverCharacteristics(of: Samples.service.id, nil)))
        base.central.role.deliver(
            .response(link: link, operation: operation, .characteristics([Samples.characteristic])))
        let read = OperationID(rawValue: 70)
        central.submit(.request(link: link, operation: read, .read(Samples.attribute)))
        base.central.role.deliver(
            .response(link: link, operation: read, .failure(.att(5, operation: "read"))),
            .valueNotified(link: link, attribute: Samples.attribute, value: Samples.value))
        return backend.trace.entries
    }

    @Test func aLineIsTimeDirectionHostSourceAndText() throws {
        let entry = TraceEntry(
            time: .milliseconds(61_002), direction: .event, category: .data, host: "hci1", source: "central 1",
            text: "written link=3")
        #expect(entry.description == "61.002000000 > hci1 central 1: written link=3")
        #expect(entry.name == "written")
        let note = TraceEntry(time: .nanoseconds(7), category: .simulation, text: "power off")
        #expect(note.description == "0.000000007 ! power off")
        #expect(note.name.isEmpty)
    }

    @Test func anEntryNamesHostDeviceAttributeAndTheMeaningOfItsValue() throws {
        let last = try #require(try entries().last)
        #expect(last.host == "hci1" && last.source == "central 1" && last.direction == .event && last.category == .data)
        #expect(last.name == "valueNotified" && last.device == "Heart Rate" && last.peer == Samples.peer)
        #expect(last.attribute == "180D/2A37" && last.handle == 0x12)
        #expect(last.value == Samples.value && last.meaning == "72 bpm, skin contact")
        #expect(
            last.text
                == "valueNotified link=3:\"Heart Rate\" attribute=12:180D/2A37@0x0012 "
                + "value=0x0648:\"72 bpm, skin contact\"")
    }

    @Test func aResponseNamesTheAttributeOfItsRequest() throws {
        let failure = try #require(try entries().last { $0.text.contains("error=") })
        #expect(failure.attribute == "180D/2A37" && failure.device == "Heart Rate")
        #expect(failure.text.contains("operation=70 attribute=12:180D/2A37@0x0012 error="))
    }

    @Test func entriesSurviveTheirEncoding() throws {
        let entries = try entries()
        #expect(entries.count > 7)
        let decoded = try JSONDecoder().decode([TraceEntry].self, from: try JSONEncoder().encode(entries))
        #expect(decoded == entries)
    }

    @Test(arguments: [
        #"{"time":1e300,"direction":"!","category":"note","source":"","name":"","text":""}"#,
        #"{"time":1,"direction":"?","category":"note","source":"","name":"","text":""}"#,
        #"{"time":1,"direction":"!","category":"note","source":"","name":"","text":"","value":"0"}"#,
        #"{"time":1,"direction":"!","category":"note"}"#,
    ])
    func aMalformedEntryIsAnError(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(TraceEntry.self, from: Data(text.utf8)) }
    }
}

/// Tests that a filter keeps lines by category and device.
struct TraceFilterTests {
    private let peer = PeerID(UUID())

    private func entry(_ category: TraceCategory, _ device: String?, _ peer: PeerID? = nil) -> TraceEntry {
        var entry = TraceEntry(time: .zero, category: category, device: device, text: "")
        entry.peer = peer
        return entry
    }

    @Test func linesOfOtherDevicesAndCategoriesAreLeftOut() {
        let filter = TraceFilter(categories: [.data], devices: ["polar h10"])
        #expect(filter.includes(entry(.data, "Polar H10")))
        #expect(!filter.includes(entry(.callback, "Polar H10")))
        #expect(!filter.includes(entry(.data, "Tag")))
        #expect(filter.includes(entry(.data, nil)), "a line about no device")
    }

    @Test func aDeviceIsNamedByItsIdentifierOrByTheBeginningOfItsName() {
        #expect(TraceFilter(devices: [peer.description.lowercased()]).includes(entry(.data, "Tag", peer)))
        #expect(TraceFilter(devices: ["ta*"]).includes(entry(.data, "Tag", peer)))
        #expect(!TraceFilter(devices: ["ta"]).includes(entry(.data, "Tag", peer)))
        #expect(!TraceFilter(devices: ["*x"]).includes(entry(.data, "Tag", peer)))
    }

    @Test func aTracingBackendAppliesIt() {
        let base = TestBackend()
        let backend = TracingBackend(around: base, to: .memory, filter: TraceFilter(categories: [.callback]))
        backend.makeCentral(RoleOptions()).activate(TestSink<CentralEvent>())
        base.central.role.deliver(.stateChanged(.poweredOn))
        #expect(backend.trace.entries.map(\.text) == ["stateChanged state=poweredOn"])
    }
}
