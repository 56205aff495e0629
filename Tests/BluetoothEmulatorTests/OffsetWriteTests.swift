import BluetoothBackend
import BluetoothHCI
import Foundation
import Testing

@testable import BluetoothCapture
@testable import BluetoothEmulator

/// Writes that begin at an offset, as `bluetoothd` makes them.
@Suite struct OffsetWriteTests {
    private static let box = PeripheralDescription(
        name: "Box", advertising: [.init(AdvertisingData())],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .write], value: Data([1, 2, 3, 4, 5]), maximumLength: 8,
                        descriptors: [
                            DescriptorDescription(
                                "2901", value: Data("text".utf8), permissions: [.readable, .writeable])
                        ]),
                    CharacteristicDescription("FFF2", .read, value: Data([1])),
                ])
        ])

    /// The answer to a write; 0 stands for success.
    private func write(
        _ scene: DeviceFixture, _ bytes: [UInt8], from offset: UInt16, _ uuid: BluetoothUUID = "FFF1"
    )
        async throws -> UInt8?
    {
        let id = try scene.found.characteristic(uuid)
        let events = try await scene.fixture.run(
            .request(link: scene.link, operation: op(1), .write(id, Data(bytes), offset: offset)))
        switch events.first {
        case .response(_, _, .written): return 0
        case .response(_, _, .failure(let error)): return error.attCode
        default: return nil
        }
    }

    @Test func whatIsBeforeTheOffsetAndBehindTheEndStays() async throws {
        let scene = try await DeviceFixture(Self.box)
        #expect(try await write(scene, [9], from: 2) == 0)
        #expect(scene.device.value(of: "FFF1") == Data([1, 2, 9, 4, 5]))
        #expect(try await write(scene, [6, 7], from: 5) == 0)
        #expect(scene.device.value(of: "FFF1") == Data([1, 2, 9, 4, 5, 6, 7]))
        #expect(try await write(scene, [8], from: 0) == 0)
        #expect(scene.device.value(of: "FFF1") == Data([8]))
    }

    @Test(
        arguments: [
            (6, [1], 0x07), (65_535, [1], 0x07), (5, [1, 2, 3], 0), (5, [1, 2, 3, 4], 0x0D),
        ] as [(UInt16, [UInt8], UInt8)])
    func anOffsetBehindTheEndAndALengthBeyondTheMaximumAreRefused(
        _ offset: UInt16, _ bytes: [UInt8], _ code: UInt8
    ) async throws {
        let scene = try await DeviceFixture(Self.box)
        #expect(try await write(scene, bytes, from: offset) == code)
        #expect(scene.device.value(of: "FFF1")?.count == (code == 0 ? 8 : 5))
    }

    @Test func permissionsAreCheckedBeforeTheOffset() async throws {
        let scene = try await DeviceFixture(Self.box)
        #expect(try await write(scene, [1], from: 99, "FFF2") == 0x03)
    }

    @Test func aDescriptorIsWrittenFromAnOffset() async throws {
        let scene = try await DeviceFixture(Self.box)
        let place = AttributePosition(service: 0, characteristic: 0, descriptor: 0)
        let id = try #require(scene.device.attribute(at: place))
        let events = try await scene.fixture.run(
            .request(link: scene.link, operation: op(1), .write(id, Data("xt".utf8), offset: 1)),
            .request(link: scene.link, operation: op(2), .write(id, Data([1]), offset: 9)))
        #expect(
            events == [
                .response(link: scene.link, operation: op(1), .written),
                .response(link: scene.link, operation: op(2), .failure(.att(0x07, operation: "write"))),
            ])
        #expect(scene.device.value(at: place) == Data("txtt".utf8))
    }

    /// Stores what it is asked to, and remembers it.
    private struct Notebook: EmulatedPeripheralHandler {
        func makeState() -> Int { 0 }

        func respond(to request: PeripheralRequest, state: inout Int, device: inout DeviceActions) -> PeripheralResponse
        {
            device.log("asked for \(request.writtenValue.map { [UInt8]($0) } ?? [])")
            return .stored
        }
    }

    @Test func aHandlerGetsTheValueThatResults() async throws {
        let fixture = Fixture(.instant)
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.box, handler: Notebook()))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("FFF1")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .write(id, Data([9]), offset: 2)),
            .request(link: link, operation: op(2), .write(id, Data([9]), offset: 6)))
        #expect(
            events == [
                .response(link: link, operation: op(1), .written),
                .response(link: link, operation: op(2), .failure(.att(0x07, operation: "write"))),
            ])
        #expect(device.value(of: "FFF1") == Data([1, 2, 9, 4, 5]))
        let asked = fixture.emulator.trace.map(\.text).filter { $0.contains("asked for") }
        #expect(asked.count == 1 && asked.first?.contains("[1, 2, 9, 4, 5]") == true, "\(asked)")
    }

    /// Answers a second late.
    private struct Late: AsynchronousPeripheralHandler {
        let clock: EmulatorClock

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            do {
                try await clock.sleep(for: .seconds(1))
                return request.writtenValue == Data([1, 2, 9, 4, 5]) ? .stored : .error(.unlikelyError)
            } catch {
                return .error(.unlikelyError)
            }
        }
    }

    @Test func whatAnAsynchronousHandlerAcceptsIsStoredAtTheOffset() async throws {
        let fixture = Fixture(.instant)
        let device = try fixture.emulator.add(
            EmulatedPeripheral(Self.box, handler: Late(clock: fixture.emulator.swiftClock)))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("FFF1")
        let events = try await fixture.run(.request(link: link, operation: op(1), .write(id, Data([9]), offset: 2)))
        #expect(events == [.response(link: link, operation: op(1), .written)])
        #expect(device.value(of: "FFF1") == Data([1, 2, 9, 4, 5]))
    }

    /// The recording has a refusal of the write from that offset, and nothing about others.
    @Test func aReplayTellsWritesFromOtherOffsetsApart() async throws {
        let path = RecordedAttribute(service: "FFF0", characteristic: "FFF1")
        let recording = DeviceRecording(
            device: Self.box, source: .init(backend: "bluez", isRedacted: true),
            events: [
                RecordedEvent(
                    time: .zero, .request(RecordedRequest(.write, path, value: Data([9]), offset: 2, error: 0x80)))
            ])
        let scene = try await DeviceFixture(recording.replayed())
        #expect(try await write(scene, [9], from: 2) == 0x80)
        #expect(try await write(scene, [9], from: 3) == 0)
        #expect(scene.device.value(of: "FFF1") == Data([1, 2, 3, 9, 5]))
    }

    @Test func aManagerGetsThePartsWithTheirOffsets() async throws {
        let pair = try await ConnectedPair()
        let value = Data((0..<200).map { UInt8($0) })
        let count = pair.peripheral.events.count
        pair.central.submit(.request(link: pair.link, operation: op(1), .write(try pair.dynamic, value, offset: 7)))
        guard case .writeRequested(_, _, 185, true, let parts) = try await pair.peripheral.nextRequest(from: count)
        else {
            throw Unexpected("\(pair.peripheral.events)")
        }
        #expect(parts.map(\.offset) == [7, 187])
        #expect(parts.map(\.value) == [value.prefix(180), Data(value.dropFirst(180))])
    }

    @Test func aShortWriteFromAnOffsetTakesAPrepareWriteAndAnExecuteWrite() async throws {
        let scene = try await DeviceFixture(Self.box, .default)
        let recorder = TapRecorder(scene.emulator, .att)
        let start = scene.emulator.now
        #expect(try await write(scene, [9], from: 2) == 0)
        // At the interval of 50 ms, two round trips.
        let spent = scene.emulator.now - start
        #expect(spent >= .milliseconds(100) && spent < .milliseconds(150), "\(spent)")
        let requests = recorder.att().compactMap { message -> ATTRequest? in
            if case .request(let request, _) = message { request } else { nil }
        }
        let handle = try #require(scene.found.characteristics.first { $0.uuid == "FFF1" }?.handle)
        #expect(requests == [.write(handle: handle, Data([9]), offset: 2)])
    }

    @Test func aCaptureHasPreparedWritesFromTheOffset() {
        let short = ATTProcedure(.write(handle: 3, Data([9]), offset: 2), mtu: 23)
        #expect(
            short.exchanges(.written).map(\.request) == [
                .prepareWriteRequest(3, offset: 2, [9]), .executeWriteRequest,
            ])
        #expect(
            short.exchanges(.error(.invalidOffset)).map(\.response) == [
                .prepareWriteResponse(3, offset: 2, [9]), .error(request: 0x18, handle: 3, code: 7),
            ])
        #expect(
            short.exchanges(.error(.writeNotPermitted)).map(\.request) == [.prepareWriteRequest(3, offset: 2, [9])])
        let long = ATTProcedure(.write(handle: 3, Data(repeating: 1, count: 20), offset: 5), mtu: 23)
        #expect(
            long.exchanges(.written).map(\.request) == [
                .prepareWriteRequest(3, offset: 5, Array(repeating: 1, count: 18)),
                .prepareWriteRequest(3, offset: 23, [1, 1]), .executeWriteRequest,
            ])
    }
}
