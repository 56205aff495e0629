import BluetoothBackend
import BluetoothHCI
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothCapture

/// The contents of packets, read from the bytes that the writer makes and from those of other stacks.
@Suite struct PacketReadingTests {
    private let device = HCIAddress(bits: 0xC0DE_0000_180D, isRandom: true)
    private let other = HCIAddress(bits: 0x4ADE_0000_180E, isRandom: true)
    private let parameters = HCIConnectionParameters(
        interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(4_200))

    private func bytes(_ hex: String) throws -> [UInt8] { Array(try #require(Data(hexText: hex))) }

    private func event(_ hex: String) throws -> HCIMessage? {
        HCIMessage(HCIPacket(kind: .event, isReceived: true, body: try bytes(hex)))
    }

    // MARK: HCI

    @Test func advertisingReportsAreReadAsTheyWereWritten() {
        for (isConnectable, isScannable, isResponse) in [
            (true, true, false), (true, true, true), (false, true, false), (false, false, false),
        ] {
            let report = AdvertisingReport(
                address: device, data: [2, 1, 6], rssi: -60, isConnectable: isConnectable && !isResponse,
                isScannable: isScannable && !isResponse, isScanResponse: isResponse)
            #expect(HCIMessage(.advertisingReport(report)) == .advertising([report]))
            for packet in HCIPacket.extendedAdvertisingReports(report) {
                #expect(HCIMessage(packet) == .advertising([report]))
            }
        }
    }

    @Test func theParametersOfAConnectionAreReadWhenTheyChange() throws {
        #expect(
            HCIMessage(.connectionUpdated(0x40, parameters)) == .parametersChanged(handle: 0x40, parameters))
        // LE Connection Update Complete: an interval of 48.75 ms, a latency of 2, a timeout of 5 s; then one that
        // failed.
        let slower = HCIConnectionParameters(
            interval: .microseconds(48_750), latency: 2, supervisionTimeout: .seconds(5))
        #expect(try event("3E0A0300400027000200F401") == .parametersChanged(handle: 0x40, slower))
        #expect(try event("3E0A033A400027000200F401") == .other)
        #expect(try event("3E080300400027000200") == nil)
        #expect(slower.interval == .microseconds(48_750) && slower.latency == 2)
        #expect(slower.supervisionTimeout == .seconds(5))
    }

    @Test func aReportInSeveralPartsIsJoined() {
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let report = AdvertisingReport(
            address: device, data: data, rssi: -60, isConnectable: false, isScannable: false, isScanResponse: false)
        var events = CaptureEvents()
        let found = HCIPacket.extendedAdvertisingReports(report).flatMap { packet in
            events.add(.packet(CapturedPacket(host: 0, time: 1, packet: packet)))
        }
        #expect(found.map(\.kind) == [.advertised(report)])
    }

    @Test func partsOfSeveralSetsAndHostsAreApart() {
        func report(_ set: UInt8, _ data: [UInt8], isLast: Bool) -> [UInt8] {
            var bytes: [UInt8] = [1, isLast ? 0 : 0x20, 0, 1, 0x0D, 0x18, 0, 0, 0xDE, 0xC0, 1, 1, set, 0x7F, 0xC4]
            bytes += [UInt8](repeating: 0, count: 9)
            bytes.append(UInt8(data.count))
            return bytes + data
        }
        var events = CaptureEvents()
        func add(_ host: Int, _ body: [UInt8]) -> [[UInt8]] {
            let bytes = [0x3E, UInt8(body.count + 1), 0x0D] + body
            let packet = HCIPacket(kind: .event, isReceived: true, body: bytes)
            return events.add(.packet(CapturedPacket(host: host, time: 1, packet: packet))).compactMap { event in
                if case .advertised(let report) = event.kind { report.data } else { nil }
            }
        }
        #expect(add(0, report(1, [1], isLast: false)) == [])
        #expect(add(0, report(2, [2], isLast: false)) == [])
        #expect(add(1, report(1, [3], isLast: false)) == [])
        #expect(add(0, report(2, [4], isLast: true)) == [[2, 4]])
        #expect(add(0, report(1, [5], isLast: true)) == [[1, 5]])
        #expect(add(1, report(1, [6], isLast: true)) == [[3, 6]])
        #expect(add(1, report(1, [7], isLast: true)) == [[7]])
    }

    @Test func aConnectionBeyondTheBoundIsCounted() {
        var events = CaptureEvents()
        _ = events.add(.host(CapturedHost(name: "host", address: other)))
        var opened = 0
        for handle in UInt16(0)..<300 {
            let connection = HCIConnection(
                handle: handle, isCentral: true, peer: device, privateAddress: nil, localPrivateAddress: nil,
                parameters: parameters)
            let packet = CapturedPacket(host: 0, time: 1, packet: .connectionComplete(connection))
            opened += events.add(.packet(packet)).count
        }
        #expect(opened == 256 && events.excessLinkCount == 44)
    }

    @Test func connectionsAreReadAsTheyWereWritten() {
        var connection = HCIConnection(
            handle: 0x40, isCentral: true, peer: device, privateAddress: nil, localPrivateAddress: nil,
            parameters: parameters)
        #expect(HCIMessage(.connectionComplete(connection)) == .connected(connection))
        connection.isCentral = false
        connection.privateAddress = other
        #expect(HCIMessage(.connectionComplete(connection)) == .connected(connection))
        #expect(HCIMessage(.disconnectionComplete(0x40, reason: 0x13)) == .disconnected(handle: 0x40, reason: 0x13))
        #expect(HCIMessage(.encrypted(0x40)) == .encrypted(handle: 0x40))
        #expect(HCIMessage(.readAddress) == .other)
    }

    @Test func thePacketsOfTheReferenceAreRead() throws {
        #expect(
            try event("3e1f0a00400001000d180000dec0000000000000000000000000180000 00a40101".replacing(" ", with: ""))
                != nil)
        #expect(try event("080400400001") == .encrypted(handle: 0x40))
        #expect(try event("5905004000 0110".replacing(" ", with: "")) == .encrypted(handle: 0x40))
        #expect(try event("080400400000") == .other, "encryption is off")
        #expect(try event("05040c400016") == .other, "the disconnection failed")
        #expect(
            try event("3e1301024000000000000000000000000000000000 00".replacing(" ", with: "")) == .other, "refused")
    }

    @Test func aPacketThatIsTooShortIsNone() throws {
        for hex in ["", "3e", "3e05", "05040040", "3e0101", "3e0202ff", "0504004000", "3e020d01", "0804004000"] {
            #expect(try event(hex) == nil, "\(hex)")
        }
        #expect(HCIMessage(HCIPacket(kind: .acl, isReceived: true, body: [0x40, 0x20, 9, 0, 1])) == nil)
    }

    // MARK: L2CAP

    @Test func packetsAreJoinedFromTheirParts() throws {
        let whole: [UInt8] = [5, 0, 4, 0, 0x1B, 0x0C, 0, 6, 60]
        for size in 1...whole.count {
            var assembler = L2CAPAssembler()
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: whole.count, by: size) {
                let part = Array(whole[start..<min(whole.count, start + size)])
                let joined = assembler.add(part, isFirst: start == 0, host: 0, handle: 1, isReceived: true)
                if let joined {
                    #expect(joined.channel == 4)
                    found.append(joined.payload)
                }
            }
            #expect(found == [[0x1B, 0x0C, 0, 6, 60]])
        }
    }

    @Test func directionsAndConnectionsAreApartAndAnEndForgetsWhatIsIncomplete() {
        var assembler = L2CAPAssembler()
        #expect(assembler.add([2, 0, 4], isFirst: true, host: 0, handle: 1, isReceived: true) == nil)
        #expect(assembler.add([0, 1, 2], isFirst: false, host: 0, handle: 1, isReceived: false) == nil)
        #expect(assembler.add([0, 1, 2], isFirst: false, host: 1, handle: 1, isReceived: true) == nil)
        #expect(assembler.add([0, 1, 2], isFirst: false, host: 0, handle: 1, isReceived: true)?.payload == [1, 2])
        #expect(assembler.add([2, 0, 4], isFirst: true, host: 0, handle: 1, isReceived: true) == nil)
        assembler.end(host: 0, handle: 1)
        #expect(assembler.add([0, 1, 2], isFirst: false, host: 0, handle: 1, isReceived: true) == nil)
        #expect(
            assembler.add([1, 0, 4, 0, 1, 2], isFirst: true, host: 0, handle: 1, isReceived: true) == nil, "too long")
    }

    @Test func noMoreThanTheBoundIsIncomplete() {
        var assembler = L2CAPAssembler()
        for handle in UInt16(0)..<65 {
            _ = assembler.add([2, 0], isFirst: true, host: 0, handle: handle, isReceived: true)
        }
        #expect(assembler.add([4, 0, 1, 2], isFirst: false, host: 0, handle: 63, isReceived: true) != nil)
        #expect(assembler.add([4, 0, 1, 2], isFirst: false, host: 0, handle: 64, isReceived: true) == nil)
    }

    // MARK: ATT

    private static let pdus: [ATTPDU] = [
        .error(request: 0x0A, handle: 3, code: 5), .mtuRequest(517), .mtuResponse(185),
        .findInformationRequest(1...0xFFFF), .findInformationResponse([.init(3, "2902"), .init(4, "2901")]),
        .findInformationResponse([.init(3, "C0DE0001-7A3D-4C5B-9E1F-2B6A8D4C0F01")]),
        .readByTypeRequest(1...9, "2803"), .readByTypeResponse([.init(2, [1, 2, 3]), .init(4, [4, 5, 6])]),
        .readByTypeRequest(1...9, "C0DE0001-7A3D-4C5B-9E1F-2B6A8D4C0F01"),
        .readRequest(3), .readResponse([]), .readResponse([1, 2]), .readBlobRequest(3, offset: 22),
        .readBlobResponse([7]), .readByGroupTypeRequest(1...0xFFFF, "2800"),
        .readByGroupTypeResponse([.init(1...9, [0x0D, 0x18])]), .writeRequest(3, [1]), .writeResponse,
        .writeCommand(3, []), .prepareWriteRequest(3, offset: 18, [1, 2]),
        .prepareWriteResponse(3, offset: 18, [1, 2]),
        .executeWriteRequest, .executeWriteResponse, .notification(3, [6, 60]), .indication(3, [1]), .confirmation,
        .findByTypeValueRequest(1...0xFFFF, type: 0x2800, [0x0D, 0x18]), .findByTypeValueResponse([1...9, 12...20]),
        .readMultipleRequest([3, 5]), .readMultipleResponse([1, 2, 3]), .readMultipleVariableRequest([3, 5, 7]),
        .readMultipleVariableResponse([[1], [], [2, 3]]),
        .readMultipleVariableResponse([[1], [2, 3]], omitted: 7), .cancelWriteRequest,
        .signedWriteCommand(3, [1, 2], signature: [UInt8](repeating: 7, count: 12)),
        .multipleNotification([.init(3, [6, 60]), .init(5, [])]),
    ]

    @Test func attributePacketsAreReadAsTheyWereWritten() {
        for pdu in Self.pdus { #expect(ATTPDU(pdu.bytes) == pdu) }
    }

    @Test func anAttributePacketThatIsCutOffIsNoneOrAShorterOne() {
        for pdu in Self.pdus {
            for length in 0..<pdu.bytes.count {
                guard let shorter = ATTPDU(Array(pdu.bytes.prefix(length))) else { continue }
                #expect(shorter.opcode == pdu.opcode && shorter != pdu)
            }
        }
    }

    @Test(arguments: [
        "", "00", "0402000100", "050300", "0901", "0907", "1101", "ff", "1b0c", "080100ffff0028 00", "0e0300", "0701",
        "1802", "23", "d203000102",
    ])
    func aMalformedAttributePacketIsNone(hex: String) throws {
        #expect(ATTPDU(try bytes(hex.replacing(" ", with: ""))) == nil)
    }

    // MARK: Advertising data

    @Test func advertisingStructuresAreRead() {
        var structures = AdvertisingStructures()
        structures.addFlags()
        structures.add(services: ["180D", "0000FFF0-1111-2222-3333-444455556666", "12345678"])
        structures.add(services: ["180F"], areSolicited: true)
        structures.add(serviceData: Data([1, 2]), of: "FEAA")
        structures.add(localName: "Heart")
        structures.add(txPower: -4)
        structures.add(manufacturerData: Data([0x4C, 0, 1]))
        let advertisement = Advertisement(structures: structures.bytes)
        #expect(
            advertisement
                == Advertisement(
                    localName: "Heart", txPowerLevel: -4,
                    serviceUUIDs: ["180D", "12345678", "0000FFF0-1111-2222-3333-444455556666"],
                    solicitedServiceUUIDs: ["180F"], serviceData: ["FEAA": Data([1, 2])],
                    manufacturerData: Data([0x4C, 0, 1])))
    }

    @Test func malformedStructuresEndTheReading() {
        #expect(Advertisement(structures: [3, 9, 65, 66, 200, 9, 67]).localName == "AB")
        #expect(Advertisement(structures: [0, 3, 9, 65, 66]).localName == nil)
        #expect(Advertisement(structures: [2, 8, 65, 3, 9, 65, 66]).localName == "AB")
    }
}
