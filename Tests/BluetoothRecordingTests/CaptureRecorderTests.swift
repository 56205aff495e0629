import AsyncBluetooth
import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothClasses
import Foundation
import Testing

@testable import BluetoothRecording

/// The conversion of a capture to the devices in it.
@Suite struct CaptureRecorderTests {
    /// Returns the capture of a client's use of a lamp, and the losses of its recording.
    private func capture(_ format: CaptureFormat) async throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).\(format.rawValue)").path
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
        let emulator = Emulator(time: .virtual)
        _ = try emulator.add(EmulatedPeripheral(Lamp.description, handler: Lamp()))
        _ = try emulator.add(.heartRateMonitor)
        let capture = try emulator.capture(to: file)
        try await emulator.run {
            let central = Central(backend: .emulator(emulator))
            for try await found in central.scan(for: [CBUUID(string: "FFF0")]) {
                return try await Lamp.use(found.peripheral, emulator)
            }
        }
        try await emulator.advance(by: .zero)
        capture.stop()
        return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    }

    private func recorder(_ bytes: [UInt8]) throws -> CaptureRecorder {
        var reader = try CaptureReader(bytes, file: "air")
        var recorder = CaptureRecorder(keepsIdentity: true)
        while let record = try reader.next() { recorder.add(record) }
        return recorder
    }

    private let source = DeviceRecording.Source(backend: "capture", isRedacted: false)

    @Test(arguments: CaptureFormat.allCases)
    func aCapturedDeviceHasItsServicesItsValuesAndItsBehavior(format: CaptureFormat) async throws {
        let recorder = try recorder(try await capture(format))
        let recordings = recorder.recordings(source)
        #expect(recordings.map(\.device.name) == ["Lamp"] && recorder.losses == [])
        let recording = try #require(recordings.first)
        #expect(recording.device.address == Lamp.description.effectiveAddress && recording.device.maximumMTU == 185)
        var services = Lamp.description.services
        for index in services.indices {
            for number in services[index].characteristics.indices {
                services[index].characteristics[number].value = Data()
                for descriptor in services[index].characteristics[number].descriptors.indices {
                    services[index].characteristics[number].descriptors[descriptor].value = Data()
                }
            }
        }
        #expect(recording.device.services == services)
        let requests = recording.events.compactMap { event -> String? in
            guard case .request(let request) = event.kind else { return nil }
            return
                "\(request.operation) \(request.attribute) \(request.value?.hexText ?? "-") \(request.error?.rawValue ?? 0)"
        }
        #expect(
            requests.suffix(9) == [
                "subscribe FFF0/FFF3 - 0", "subscribe FFF0/FFF4 - 0", "read FFF0/FFF1 01 0", "read FFF0/FFF1 02 0",
                "read FFF0/FFF1 03 0", "read 180A/2A25 534E2D3737 0", "write FFF0/FFF2 05 0", "write FFF0/FFF2 FF 128",
                "writeCommand FFF0/FFF2 06 0",
            ])
        #expect(recording.events.last?.kind == .linkClosed(.remote))
        let notified = recording.events.count { if case .notified = $0.kind { true } else { false } }
        #expect(notified == 21, "19 beats, and two after the writes")
    }

    @Test func aReplayOfACaptureIsCapturedAsTheSameDevice() async throws {
        let recording = try #require(try recorder(try await capture(.pcapng)).recordings(source).first)
        let text = try recording.jsonLines()
        #expect(try DeviceRecording(jsonLines: text) == recording)
        let emulator = Emulator(configuration: .instant, time: .virtual)
        _ = try emulator.add(EmulatedPeripheral(recording.replayed()))
        let values = try await emulator.run {
            let peripheral = try await Lamp.first(Central(backend: .emulator(emulator)))
            var values: [Data] = []
            for _ in 0..<3 { values.append(try await peripheral.read("FFF0/FFF1")) }
            values.append(try await peripheral.read("180A/2A25"))
            return values
        }
        #expect(values == [Data([1]), Data([2]), Data([3]), Data("SN-77".utf8)])
    }

    // MARK: Made by hand

    private let host = CapturedHost(name: "phone", address: HCIAddress(bits: 0x0011_2233_4455, isRandom: false))
    private let device = HCIAddress(bits: 0xC0DE_0000_180D, isRandom: true)

    private func records(
        isCentral: Bool, _ pdus: [(isFromDevice: Bool, payload: [UInt8], channel: UInt16)]
    ) -> [CaptureRecord] {
        let connection = HCIConnection(
            handle: 0x40, isCentral: isCentral, peer: device, privateAddress: nil, localPrivateAddress: nil,
            parameters: HCIConnectionParameters(
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4)))
        var packets = [HCIPacket.connectionComplete(connection)]
        packets += pdus.map { pdu in
            HCIPacket(
                connection: 0x40, channel: pdu.channel, payload: pdu.payload, isReceived: pdu.isFromDevice == isCentral)
        }
        packets.append(.disconnectionComplete(0x40, reason: 0x13))
        return [.host(host)]
            + packets.enumerated().map { index, packet in
                .packet(CapturedPacket(host: 0, time: CaptureTime(index) * 1_000_000, packet: packet))
            }
    }

    private static let conversation: [(Bool, ATTPDU)] = [
        (false, .readByGroupTypeRequest(1...0xFFFF, "2800")),
        (true, .readByGroupTypeResponse([.init(1...9, [0xF0, 0xFF])])),
        (false, .readByTypeRequest(1...9, "2803")), (true, .readByTypeResponse([.init(2, [0x02, 3, 0, 0xF1, 0xFF])])),
        (false, .readRequest(3)), (true, .readResponse([7])), (false, .readRequest(99)), (true, .readResponse([1])),
    ]

    @Test(arguments: [true, false])
    func theDeviceIsTheOtherEndOrTheHostItself(isCentral: Bool) throws {
        var recorder = CaptureRecorder(keepsIdentity: true)
        let pdus = Self.conversation.map { ($0.0, $0.1.bytes, UInt16(4)) }
        for record in records(isCentral: isCentral, pdus) { recorder.add(record) }
        let recording = try #require(recorder.recordings(source).first)
        #expect(recording.device.address?.bits == (isCentral ? device.bits : host.address.bits))
        #expect(recording.device.services.map(\.uuid) == ["FFF0"])
        #expect(recording.events.map(\.kind).last == .linkClosed(isCentral ? .remote : .local))
        #expect(
            recorder.losses == [
                "left out: requests and notifications about attributes that were not discovered in the capture (1)"
            ])
    }

    @Test func theConnectionParametersAreThoseThatTheLastLinkHadAtItsEnd() throws {
        var recorder = CaptureRecorder(keepsIdentity: true)
        var records = records(isCentral: true, [])
        #expect(records.count == 3)
        for record in records { recorder.add(record) }
        let first = try #require(recorder.recordings(source).first).device
        #expect(first.connectionInterval == .milliseconds(30) && first.peripheralLatency == 0)
        #expect(first.supervisionTimeout == .seconds(4))
        let slower = HCIConnectionParameters(
            interval: .milliseconds(480), latency: 4, supervisionTimeout: .seconds(6))
        records.insert(
            .packet(CapturedPacket(host: 0, time: 1_500_000, packet: .connectionUpdated(0x40, slower))), at: 2)
        for record in records.dropFirst() { recorder.add(record) }
        let last = try #require(recorder.recordings(source).first).device
        #expect(last.connectionInterval == .milliseconds(480) && last.peripheralLatency == 4)
        #expect(last.supervisionTimeout == .seconds(6))
    }

    @Test func pairingFeaturesAreThoseOfTheDevice() throws {
        let request = SecurityManagerPDU.pairingRequest(
            .init(capability: 3, hasOutOfBandData: false, requiresAuthentication: false))
        let response = SecurityManagerPDU.pairingResponse(
            .init(capability: 0, hasOutOfBandData: false, requiresAuthentication: true))
        var recorder = CaptureRecorder(keepsIdentity: true)
        for record in records(isCentral: true, [(false, request.bytes, 6), (true, response.bytes, 6)]) {
            recorder.add(record)
        }
        let device = try #require(recorder.recordings(source).first).device
        #expect(device.pairing == PairingDescription(capability: .displayOnly, requiresAuthentication: true))
    }

    @Test func withoutAConnectionThoseThatAdvertiseAreTheDevices() throws {
        var recorder = CaptureRecorder(keepsIdentity: true)
        var structures = AdvertisingStructures()
        structures.add(localName: "Tag")
        recorder.add(.host(host))
        for index in 0..<3 {
            let report = AdvertisingReport(
                address: HCIAddress(bits: UInt64(index), isRandom: false), data: structures.bytes, rssi: -60,
                isConnectable: false, isScannable: false, isScanResponse: false)
            recorder.add(.packet(CapturedPacket(host: 0, time: 1, packet: .advertisingReport(report))))
        }
        let devices = recorder.recordings(source).map(\.device)
        #expect(
            devices.map(\.name) == ["Tag", "Tag", "Tag"] && devices.allSatisfy { !$0.advertising[0].isConnectable })
        try WorldDescription(devices: devices).validate()
        #expect(recorder.recordings(source) { address, name in address.bits == 1 && name == "Tag" }.count == 1)
    }
}
