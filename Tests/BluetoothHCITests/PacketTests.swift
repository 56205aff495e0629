import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothHCI

/// The bytes of packets in the layout of the Core Specification; tshark and btmon decode the same bytes.
@Suite struct PacketTests {
    private let device = HCIAddress(bits: 0xC0DE_0000_180D, isRandom: true)
    private let host = HCIAddress(bits: 0x0011_2233_4455, isRandom: false)
    private let parameters = HCIConnectionParameters(
        interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(4_200))

    /// Returns the type and the bytes.
    private func hex(_ packet: HCIPacket) -> String { Data([packet.kind.rawValue] + packet.body).hexText.lowercased() }

    private func hex(_ bytes: [UInt8]) -> String { Data(bytes).hexText.lowercased() }

    @Test func aHostAsksForItsAddress() {
        #expect(hex(.readAddress) == "01091000")
        #expect(hex(.addressRead(host)) == "040e0a01091000554433221100")
    }

    @Test func anAdvertisingReportHasTypeAddressDataAndSignal() {
        var structures = AdvertisingStructures()
        structures.addFlags()
        structures.add(services: ["180D"])
        structures.add(localName: "Heart")
        #expect(hex(structures.bytes) == "02010603030d1806094865617274")
        var report = AdvertisingReport(
            address: device, data: structures.bytes, rssi: -60, isConnectable: true, isScannable: false,
            isScanResponse: false)
        #expect(
            hex(.advertisingReport(report)) == "043e1a020100010d180000dec00e02010603030d1806094865617274c4")
        report.isConnectable = false
        #expect(HCIPacket.advertisingReport(report).body[4] == 3)
        report.isScannable = true
        #expect(HCIPacket.advertisingReport(report).body[4] == 2)
        report.isScanResponse = true
        #expect(HCIPacket.advertisingReport(report).body[4] == 4)
    }

    @Test func anExtendedReportHasThePHYsAndIsDividedWhereItIsLong() {
        let short = AdvertisingReport(
            address: device, data: Array(repeating: 0xAA, count: 9), rssi: -58, isConnectable: true, isScannable: false,
            isScanResponse: false)
        let packets = HCIPacket.extendedAdvertisingReports(short)
        #expect(
            packets.map(hex) == [
                "043e230d010100010d180000dec00101ff7fc6000000000000000000" + "09" + String(repeating: "aa", count: 9)
            ])
        var long = short
        long.data = Array(repeating: 0xAA, count: 300)
        let parts = HCIPacket.extendedAdvertisingReports(long)
        #expect(parts.map { $0.body[4] } == [0x21, 0x01], "more data follows the first")
        #expect(parts.map { $0.body[27] } == [229, 71])
    }

    @Test func aConnectionIsReportedWithItsAddressesAndParameters() {
        var connection = HCIConnection(
            handle: 0x0040, isCentral: true, peer: device, privateAddress: nil, localPrivateAddress: nil,
            parameters: parameters)
        #expect(hex(.connectionComplete(connection)) == "043e13010040000001" + "0d180000dec0" + "18000000a40101")
        connection.isCentral = false
        #expect(HCIPacket.connectionComplete(connection).body[6] == 1)
        connection.isCentral = true
        connection.privateAddress = HCIAddress(bits: 0x4A11_2233_4455, isRandom: true)
        #expect(
            hex(.connectionComplete(connection))
                == "043e1f0a0040000003" + "0d180000dec0" + "000000000000" + "55443322114a" + "18000000a40101")
        let faster = HCIConnectionParameters(
            interval: .milliseconds(15), latency: 0, supervisionTimeout: .milliseconds(4_200))
        #expect(hex(.connectionUpdated(0x0040, faster)) == "043e0a030040000c000000a401")
        #expect(hex(.encrypted(0x0040)) == "0408040040" + "0001")
        #expect(hex(.disconnectionComplete(0x0040, reason: 0x16)) == "0405040040" + "0016")
    }

    @Test func parametersOutOfRangeAreTheNearestInRange() {
        let packet = HCIPacket.connectionUpdated(
            1, HCIConnectionParameters(interval: .zero, latency: 1_000, supervisionTimeout: .seconds(100)))
        #expect(hex(packet) == "043e0a03000100" + "0600" + "f301" + "800c")
    }

    @Test func theDirectionOfDataIsInThePacketAndInItsFlags() {
        let sent = HCIPacket(connection: 0x40, channel: 4, payload: [2, 5, 2], isReceived: false)
        #expect(hex(sent) == "02400007000300040002" + "0502" && !sent.isReceived)
        let received = HCIPacket(connection: 0x40, channel: 4, payload: [3, 185, 0], isReceived: true)
        #expect(hex(received) == "02402007000300040003" + "b900")
        let long = HCIPacket(
            connection: 0x40, channel: 4, payload: Array(repeating: 1, count: 70_000), isReceived: true)
        #expect(long.body.count == 65_531 + 8, "more does not fit in the length field")
    }

    @Test(arguments: [
        (ATTPDU.mtuRequest(517), "020502"), (.mtuResponse(185), "03b900"),
        (.readByGroupTypeRequest(1...0xFFFF, "2800"), "100100ffff0028"),
        (
            .readByGroupTypeResponse([ATTPDU.Group(1...9, [0, 0x18]), ATTPDU.Group(10...15, [0x0D, 0x18])]),
            "11060100090000180a000f000d18"
        ),
        (.error(request: 0x10, handle: 0x10, code: 0x0A), "011010000a"),
        (.readByTypeRequest(10...15, "2803"), "080a000f000328"),
        (.readByTypeResponse([ATTPDU.HandleAndValue(11, [0x12, 12, 0, 0x37, 0x2A])]), "09070b00120c00372a"),
        (.findInformationRequest(13...13), "040d000d00"),
        (.findInformationResponse([ATTPDU.HandleAndUUID(13, "2902")]), "05010d000229"),
        (
            .findInformationResponse([ATTPDU.HandleAndUUID(13, "0000FFF0-0000-1000-8000-00805F9B34FC")]),
            "05020d00fc349b5f8000008000100000f0ff0000"
        ),
        (.readRequest(15), "0a0f00"), (.readResponse([1]), "0b01"),
        (.readBlobRequest(15, offset: 22), "0c0f001600"), (.readBlobResponse([2, 3]), "0d0203"),
        (.writeRequest(15, [1]), "120f0001"), (.writeResponse, "13"), (.writeCommand(15, [1, 2]), "520f000102"),
        (.prepareWriteRequest(15, offset: 18, [9]), "160f00120009"),
        (.prepareWriteResponse(15, offset: 18, [9]), "170f00120009"),
        (.executeWriteRequest, "1801"), (.executeWriteResponse, "19"),
        (.notification(12, [6, 0x3C]), "1b0c00063c"), (.indication(12, [6]), "1d0c0006"), (.confirmation, "1e"),
    ])
    func attributeProtocol(_ packet: ATTPDU, _ bytes: String) { #expect(hex(packet.bytes) == bytes) }

    @Test func thePairingIsInTheFormatOfTheSecurityManager() {
        let features = SecurityManagerPDU.PairingFeatures(
            capability: 4, hasOutOfBandData: false, requiresAuthentication: true)
        let others = SecurityManagerPDU.PairingFeatures(
            capability: 1, hasOutOfBandData: true, requirements: [.authentication, .keypresses], maximumKeySize: 7,
            initiatorKeys: [.encryption, .signing], responderKeys: .link)
        let key = [UInt8](repeating: 7, count: 16)
        let packets: [(SecurityManagerPDU, String)] = [
            (.pairingRequest(others), "01010114070508"), (.pairingResponse(others), "02010114070508"),
            (.pairingRequest(features), "0104000d100202"), (.pairingResponse(features), "0204000d100202"),
            (.confirm(key), "03" + hex(key)), (.random(key), "04" + hex(key)), (.failed(reason: 5), "0505"),
            (.identityInformation(key), "08" + hex(key)), (.identityAddress(device), "09010d180000dec0"),
            (.encryptionInformation(key), "06" + hex(key)),
            (.centralIdentification(random: 0x0102_0304_0506_0708, diversifier: 0x1234), "0734120807060504030201"),
            (.signingInformation(key), "0a" + hex(key)),
            (.securityRequest([.bonding, .secureConnections]), "0b09"),
            (.publicKey([UInt8](repeating: 9, count: 64)), "0c" + String(repeating: "09", count: 64)),
            (.check(key), "0d" + hex(key)), (.keypress(4), "0e04"),
        ]
        for (packet, bytes) in packets {
            #expect(hex(packet.bytes) == bytes)
            #expect(SecurityManagerPDU(packet.bytes) == packet)
            // A byte more or less is malformed.
            #expect(SecurityManagerPDU(packet.bytes + [0]) == nil)
            #expect(SecurityManagerPDU(Array(packet.bytes.dropLast())) == nil)
        }
    }

    @Test(arguments: [
        "", "00", "0f", "0f00000000000000000000000000000000", "ff", "0103020d100202", "0902010000000000", "0e05",
    ])
    func aMalformedPacketOfTheSecurityManagerIsNone(text: String) throws {
        let data = try #require(Data(hexText: text))
        #expect(SecurityManagerPDU([UInt8](data)) == nil)
    }

    private static let signals: [(SignalingPDU, UInt8, String)] = [
        (.rejection(.notUnderstood), 9, "010902000000"), (.rejection(.tooLong(mtu: 23)), 9, "01090400" + "01001700"),
        (.rejection(.invalidChannel(local: 0x40, remote: 0x41)), 9, "01090600" + "020040004100"),
        (
            .connectionRequest(psm: 0x80, source: 0x40, mtu: 512, mps: 247, credits: 10), 1,
            "14010a0080004000" + "0002f7000a00"
        ),
        (
            .connectionResponse(destination: 0x41, mtu: 512, mps: 247, credits: 10, result: .success), 1,
            "15010a0041000002" + "f7000a000000"
        ),
        (
            .connectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: .insufficientEncryption), 1,
            "15010a00" + "00000000000000000800"
        ),
        (.credits(source: 0x41, 3), 2, "1602040041000300"),
        (.disconnectionRequest(destination: 0x41, source: 0x40), 3, "0603040041004000"),
        (.disconnectionResponse(destination: 0x41, source: 0x40), 3, "0703040041004000"),
        (.parametersRequest(minimum: 24, maximum: 40, latency: 0, timeout: 42), 4, "1204080018002800" + "00002a00"),
        (.parametersResponse(isAccepted: true), 4, "130402000000"),
        (.parametersResponse(isAccepted: false), 4, "130402000100"),
    ]

    @Test func channelsAreSignaled() throws {
        for (packet, identifier, bytes) in Self.signals {
            #expect(hex(packet.bytes(identifier: identifier)) == bytes)
            let data = try #require(Data(hexText: bytes))
            let frame = try #require(SignalingPDU.Frame([UInt8](data)))
            #expect(frame.identifier == identifier)
            #expect(SignalingPDU(frame) == packet)
        }
    }

    @Test(arguments: ["06030300410040", "060302004100", "0603060041004000" + "0000", "14010000", "01090200" + "0300"])
    func aSignalOfAnotherLengthIsNone(text: String) throws {
        let data = try #require(Data(hexText: text))
        let frame = try #require(SignalingPDU.Frame([UInt8](data)))
        #expect(SignalingPDU(frame) == nil)
    }
}
