import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothRecording

/// Captures and recordings with changed bytes: an error or a valid device, never a trap.
///
/// Each seed runs for a while, or for `FUZZ_SECONDS` from the seed `FUZZ_SEED` on: `make fuzz`.
@Suite struct HostileFileTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let firstSeed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    private static let time = environment["FUZZ_SECONDS"].flatMap { Double($0) }.map { Duration.seconds($0 / 2) }

    /// Calls `body` with changed copies, 500 of them or for the requested time.
    private func change(_ originals: [[UInt8]], _ body: ([UInt8]) throws -> Void) -> Int {
        let start = ContinuousClock.now
        var count = 0
        while Self.time.map({ ContinuousClock.now - start < $0 }) ?? (count < 500) {
            var random = SeededGenerator(seed: Self.firstSeed + UInt64(count), stream: "files")
            var bytes = originals[Int.random(in: originals.indices, using: &random)]
            for _ in 0..<Int.random(in: 1...8, using: &random) { Self.change(&bytes, &random) }
            withKnownSeed(Self.firstSeed + UInt64(count)) { try body(bytes) }
            count += 1
        }
        return count
    }

    /// Names the seed of a failure.
    private func withKnownSeed(_ seed: UInt64, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            Issue.record("FUZZ_SEED=\(seed): \(error)")
        }
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: bytes.indices, using: &random)
        let end = min(bytes.count, index + Int.random(in: 0...16, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case 3: bytes.removeSubrange(index..<end)
        case 4: bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: bytes.indices, using: &random))
        default: bytes.removeSubrange(index...)
        }
    }

    /// Returns files with packets of all kinds that are read.
    private func captures() -> [[UInt8]] {
        let host = CapturedHost(name: "phone", address: HCIAddress(bits: 0x0011_2233_4455, isRandom: false))
        let device = HCIAddress(bits: 0xC0DE_0000_180D, isRandom: true)
        var structures = AdvertisingStructures()
        structures.addFlags()
        structures.add(services: ["180D", "C0DE0001-7A3D-4C5B-9E1F-2B6A8D4C0F01"])
        structures.add(localName: "Heart")
        structures.add(manufacturerData: Data(repeating: 7, count: 300))
        let report = AdvertisingReport(
            address: device, data: structures.bytes, rssi: -60, isConnectable: true, isScannable: true,
            isScanResponse: false)
        var short = report
        short.data = Array(structures.bytes.prefix(7))
        let connection = HCIConnection(
            handle: 0x40, isCentral: true, peer: device, privateAddress: nil, localPrivateAddress: nil,
            parameters: HCIConnectionParameters(
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4)))
        var packets = [.readAddress, .addressRead(host.address), HCIPacket.advertisingReport(short)]
        packets += HCIPacket.extendedAdvertisingReports(report)
        packets += [.connectionComplete(connection), .encrypted(0x40)]
        for (isReceived, pdu) in Self.conversation {
            packets.append(HCIPacket(connection: 0x40, channel: 4, payload: pdu.bytes, isReceived: isReceived))
        }
        let features = SecurityManagerPDU.PairingFeatures(
            capability: 1, hasOutOfBandData: false, requiresAuthentication: true)
        let pairing = SecurityManagerPDU.pairingResponse(features).bytes
        packets.append(HCIPacket(connection: 0x40, channel: 6, payload: pairing, isReceived: true))
        packets.append(.disconnectionComplete(0x40, reason: 0x13))
        return CaptureFormat.allCases.map { format in
            var encoder = format.makeEncoder(comment: "")
            var bytes = encoder.header + encoder.encode(.host(host))
            for (index, packet) in packets.enumerated() {
                bytes += encoder.encode(
                    .packet(CapturedPacket(host: 0, time: CaptureTime(index) * 1_000, packet: packet)))
            }
            return bytes
        }
    }

    private static let conversation: [(Bool, ATTPDU)] = [
        (false, .mtuRequest(517)), (true, .mtuResponse(23)),
        (false, .readByGroupTypeRequest(1...0xFFFF, "2800")),
        (true, .readByGroupTypeResponse([.init(1...9, [0x0D, 0x18]), .init(10...19, [0xF0, 0xFF])])),
        (false, .readByTypeRequest(1...9, "2802")),
        (true, .readByTypeResponse([.init(2, [10, 0, 19, 0, 0xF0, 0xFF])])),
        (false, .readByTypeRequest(1...9, "2803")),
        (true, .readByTypeResponse([.init(3, [0x1A, 4, 0, 0x37, 0x2A]), .init(6, [0x0A, 7, 0, 0x38, 0x2A])])),
        (false, .findInformationRequest(5...9)),
        (true, .findInformationResponse([.init(5, "2902"), .init(8, "2901")])),
        (false, .readRequest(7)), (true, .readResponse([UInt8](repeating: 1, count: 22))),
        (false, .readBlobRequest(7, offset: 22)), (true, .readBlobResponse([2])),
        (false, .writeRequest(5, [1, 0])), (true, .writeResponse), (true, .notification(4, [6, 60])),
        (false, .prepareWriteRequest(7, offset: 0, [1])), (true, .prepareWriteResponse(7, offset: 0, [1])),
        (false, .executeWriteRequest), (true, .executeWriteResponse), (false, .writeCommand(7, [1])),
        (false, .readRequest(4)), (true, .error(request: 0x0A, handle: 4, code: 5)),
    ]

    /// Returns the devices of a capture, as far as it can be read.
    private func recordings(_ bytes: [UInt8]) throws -> [DeviceRecording] {
        var recorder = CaptureRecorder(keepsIdentity: false)
        do throws(CaptureReadError) {
            var reader = try CaptureReader(bytes, file: "air")
            while let record = try reader.next() { recorder.add(record) }
        } catch {
            guard (0...bytes.count).contains(error.offset), !error.rule.isEmpty else { throw Mistake("\(error)") }
        }
        return recorder.recordings(DeviceRecording.Source(backend: "capture", isRedacted: true))
    }

    @Test func aChangedCaptureIsAnErrorOrAValidWorld() throws {
        let originals = captures()
        for bytes in originals { #expect(try recordings(bytes).first?.events.count ?? 0 > 7) }
        let count = change(originals) { bytes in
            for recording in try recordings(bytes) {
                try EmulatedPeripheral(recording.replayed()).description.validate()
                try recording.plainDevice().description.validate()
                try requireEqual(DeviceRecording(jsonLines: recording.jsonLines()), recording)
            }
        }
        print("\(count) captures")
    }

    private func requireEqual(_ read: DeviceRecording, _ written: DeviceRecording) throws {
        guard read != written else { return }
        for (read, written) in zip(read.events, written.events) where read != written {
            throw Mistake("an event is read as \(read), and was written as \(written)")
        }
        throw Mistake("it is read as \(read.device), and was written as \(written.device)")
    }

    @Test func aChangedRecordingIsAnErrorOrAValidDevice() throws {
        let originals = try captures().flatMap { try recordings($0) }.map { Array(try $0.jsonLines()) }
        let count = change(originals) { bytes in
            let recording: DeviceRecording
            do throws(DescriptionError) {
                recording = try DeviceRecording(jsonLines: Data(bytes))
            } catch {
                guard !error.rule.isEmpty else { throw Mistake("\(error)") }
                return
            }
            _ = try EmulatedPeripheral(recording.replayed())
            try recording.plainDevice().description.validate()
        }
        print("\(count) recordings")
    }
}

private struct Mistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
