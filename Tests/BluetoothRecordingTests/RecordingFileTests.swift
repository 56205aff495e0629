import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothRecording

/// The JSON lines of recordings.
@Suite struct RecordingFileTests {
    private static let source = DeviceRecording.Source(backend: "bluez", date: "2026-11-22", isRedacted: true)
    private static let point = RecordedAttribute(service: "FFF0", characteristic: "FFF2")
    private static let value = RecordedAttribute(service: "FFF0", characteristic: "FFF1", index: 1)
    private static let start =
        #"{"recording":1,"device":{"name":"Strap"},"source":{"backend":"bluez","redacted":true}}"# + "\n"

    private static let events: [RecordedEvent] = [
        RecordedEvent(time: .milliseconds(412), .advertised(set: 0, rssi: -61)),
        RecordedEvent(time: .milliseconds(3_100), .linkOpened(mtu: 185)),
        RecordedEvent(
            time: .microseconds(3_404_001),
            .request(RecordedRequest(.read, value, value: Data([1]), duration: .milliseconds(48)))),
        RecordedEvent(
            time: .seconds(4),
            .request(RecordedRequest(.read, value, duration: .microseconds(48_001), error: .readNotPermitted))),
        RecordedEvent(
            time: .seconds(5),
            .request(RecordedRequest(.write, point, value: Data([5]), duration: .milliseconds(61), error: 0x80))),
        RecordedEvent(time: .seconds(6), .request(RecordedRequest(.writeCommand, point, value: Data()))),
        RecordedEvent(time: .seconds(7), .request(RecordedRequest(.subscribe, value, duration: .milliseconds(30)))),
        RecordedEvent(time: .seconds(8), .notified(value, Data([10]), after: RecordedWrite(point, Data([5])))),
        RecordedEvent(time: .seconds(9), .notified(value, Data([11]), after: nil)),
        RecordedEvent(time: .seconds(10), .request(RecordedRequest(.unsubscribe, value, duration: .zero))),
        RecordedEvent(
            time: .seconds(10),
            .request(RecordedRequest(.write, point, value: Data([6]), offset: 300, duration: .milliseconds(50)))),
        RecordedEvent(
            time: .seconds(10), .notified(value, Data([12]), after: RecordedWrite(point, Data([6]), offset: 300))),
        RecordedEvent(time: .seconds(11), .linkClosed(.remote)),
    ]

    @Test func eachKindOfLineIsReadAsItWasWritten() throws {
        let device = PeripheralDescription(
            name: "Strap", services: [ServiceDescription("FFF0", characteristics: [.init("FFF1", [.read])])])
        let recording = DeviceRecording(device: device, source: Self.source, events: Self.events)
        let text = try recording.jsonLines()
        #expect(text.split(separator: UInt8(ascii: "\n")).count == Self.events.count + 1)
        #expect(try DeviceRecording(jsonLines: text) == recording)
    }

    @Test func aTimeOfMonthsIsKeptToTheMicrosecond() throws {
        let times: [Duration] = [.seconds(17_451_448) + .microseconds(556_087), DeviceRecording.longestTime]
        let recording = DeviceRecording(
            device: PeripheralDescription(name: "Strap"), source: Self.source,
            events: times.map { RecordedEvent(time: $0, .advertised(set: 0, rssi: -61)) })
        #expect(try DeviceRecording(jsonLines: recording.jsonLines()) == recording)
    }

    @Test func aRecorderKeepsWholeMicroseconds() {
        var recorder = DeviceRecorder(start: .nanoseconds(1), keepsIdentity: false)
        recorder.linkOpened(mtu: 23, at: .nanoseconds(3_404_001_600))
        #expect(recorder.takeEvents().map(\.time) == [.microseconds(3_404_002)])
    }

    @Test func theLinesOfTheReferenceAreRead() throws {
        let text = """
            {"recording":1,"device":{"name":"Strap"},"source":{"backend":"bluez","date":"2026-11-22","redacted":true}}
            {"t":0.412,"advertised":{"set":0,"rssi":-61}}
            {"t":3.100,"link":"opened","mtu":185}
            {"t":3.404,"read":"180D/2A38","value":"01","took":"48 ms"}
            {"t":3.600,"write":"180D/2A39","value":"01","took":"61 ms","error":128}
            {"t":4.001,"notified":"180D/2A37","value":"063c"}
            {"t":5.210,"notified":"FFF0/FFF1","value":"0a","after":{"write":"FFF0/FFF2","value":"05"}}
            {"t":9.000,"link":"closed","reason":"timeout"}
            """
        let recording = try DeviceRecording(jsonLines: Data(text.utf8))
        #expect(recording.events.count == 7)
        #expect(
            recording.events[5].kind
                == .notified(
                    RecordedAttribute(service: "FFF0", characteristic: "FFF1"), Data([10]),
                    after: RecordedWrite(Self.point, Data([5]))))
    }

    @Test(arguments: [
        (#"{"t":-1,"link":"opened"}"#, "2:2: t: a line has the seconds since the beginning, 0...31536000"),
        (#"{"link":"opened"}"#, "2:1: t: a line has the seconds since the beginning, 0...31536000"),
        (#"{"t":1}"#, "2:1: a line has one of advertised, link, device, read, write, writeCommand, subscribe,"),
        (#"{"t":1,"read":"180D/2A38","write":"180D/2A38","value":"01"}"#, "2:1: a line has one of advertised, link"),
        (#"{"t":1,"read":"2A38","value":"01"}"#, "2:8: read: \"2A38\": an attribute is the UUIDs of its service and"),
        (#"{"t":1,"read":"180D/2A38"}"#, "2:1: value: a read has either a value or an error"),
        (#"{"t":1,"read":"180D/2A38","value":"0"}"#, "2:27: value: \"0\": bytes are an even number of hexadecimal"),
        (#"{"t":1,"write":"180D/2A38"}"#, "2:1: value: the field is missing"),
        (#"{"t":1,"write":"180D/2A38","value":"01","error":0}"#, "2:41: error: an ATT error code is 1...255"),
        (#"{"t":1,"write":"180D/2A38","value":"01","offset":65536}"#, "2:41: offset: "),
        (
            #"{"t":1,"writeCommand":"180D/2A38","value":"01","offset":1}"#,
            "2:48: offset: a line of this kind has no such"
        ),
        (#"{"t":1,"link":"gone"}"#, "2:8: link: a link is opened or closed"),
        (#"{"t":1,"link":"opened","value":"01"}"#, "2:24: value: a line of this kind has no such field"),
        (#"{"t":1,"notified":"180D/2A37","value":"","after":{"value":"01"}}"#, "2:42: after: a cause has write and"),
        (#"{"t":1,"link":"closed","reason":"bored"}"#, "2:24: reason: \"bored\": the reasons are local, remote,"),
        (#"{"t":1,"device":{"name":"A","rssi":99}}"#, "2:29: device.rssi: the signal strength is -127...20 dBm"),
        (#"{"t":1,"device":{"recording":"x.jsonl"}}"#, "2:18: device.recording: only a file can name a recording"),
        (#"{"recording":1,"device":{"name":"A"},"source":{"backend":"x","redacted":true}}"#, "2:2: recording: a recor"),
        ("{\"t\":1,", "2:8: not JSON"),
    ])
    func aMalformedLineIsReportedWithItsPlaceAndRule(line: String, message: String) throws {
        let text = Self.start + line + "\n{\"t\":1,\"link\":\"opened\"}\n"
        let error = #expect(throws: DescriptionError.self) { try DeviceRecording(jsonLines: Data(text.utf8)) }
        let found = error.map { "\($0.place.map { "\($0.line):\($0.column): " } ?? "")" + $0.withoutPlace }
        #expect(found?.hasPrefix(message) == true, "\(found ?? "none")")
    }

    @Test func theFirstLineIsADevice() {
        for text in [
            "", "\n", #"{"t":1,"link":"opened"}"#, #"{"recording":2,"device":{"name":"A"},"source":{"backend":"x"}}"#,
        ] {
            let error = #expect(throws: DescriptionError.self) { try DeviceRecording(jsonLines: Data(text.utf8)) }
            #expect(error?.path == "recording")
        }
    }

    @Test func aRecordingThatWasCutOffLosesItsLastLineAtMost() throws {
        let recording = DeviceRecording(
            device: PeripheralDescription(name: "Strap"), source: Self.source, events: Self.events)
        let text = try recording.jsonLines()
        let first = try #require(text.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for length in first...text.count {
            let cut = try DeviceRecording(jsonLines: text.prefix(length))
            let whole = text.prefix(length).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            #expect((whole.count - 2...whole.count - 1).contains(cut.events.count))
        }
    }

    @Test func aLaterLineAboutTheDeviceReplacesTheFirst() throws {
        let text = Self.start + #"{"t":1,"device":{"name":"Strap","rssi":-50}}"# + "\n"
        #expect(try DeviceRecording(jsonLines: Data(text.utf8)).device.rssi == -50)
    }

    @Test func aFileThatIsTooLargeIsNotRead() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.truncate(atOffset: UInt64(DeviceRecording.maximumBytes) + 1)
        try handle.close()
        let error = #expect(throws: DescriptionError.self) { try DeviceRecording(contentsOfFile: file) }
        #expect(error?.rule == "a recording has 33554432 bytes or fewer")
    }

    @Test(arguments: ["180D/2A37", "180D/2A37#1", "180D/2A37/2901", "180D/2A37#12/2901"])
    func attributesAreTextsOfTheirUUIDs(text: String) throws {
        #expect(try #require(RecordedAttribute(text)).description == text)
    }

    @Test(arguments: [
        "", "/", "180D", "180D/2A37/", "180D/2A37#", "180D/2A37#-1", "180D/2A37#x", "180D/2A37#1#2", "x/2A37",
    ])
    func otherTextsAreNoAttributes(text: String) {
        #expect(RecordedAttribute(text) == nil)
    }
}

extension DescriptionError {
    /// The path and the rule.
    fileprivate var withoutPlace: String { path.isEmpty ? rule : "\(path): \(rule)" }
}
