#if os(Linux)
import BluetoothBackend
import Testing

@testable import BlueZ

/// The bytes to and from a controller.
///
/// Source: Core Specification, Vol 4, Part E, 7.5.4, 7.7.14 and 7.7.15.
@Suite struct HCIReadRSSITests {
    private let question = HCIReadRSSI(handle: 0x0E42)

    private func code(_ packet: [UInt8]) -> BackendError.Code? { question.answer(packet)?.failure?.code }

    @Test func theQuestionNamesTheLink() {
        #expect(question.command == [0x01, 0x05, 0x14, 0x02, 0x42, 0x0E])
    }

    @Test func theAnswerIsASignedNumber() {
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E, 0xCE]) == .success(-50))
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E, 0x7F]) == .success(127))
    }

    @Test func whatIsNoAnswerToTheQuestionIsPassedOver() {
        let others: [[UInt8]] = [
            [], [0x04], [0x04, 0x0E, 0x00],
            // Of another link, another command, another event, another kind of packet.
            [0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x43, 0x0E, 0xCE],
            [0x04, 0x0E, 0x07, 0x01, 0x2D, 0x0C, 0x00, 0x42, 0x0E, 0xCE],
            [0x04, 0x3E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E, 0xCE],
            [0x02, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E, 0xCE],
            // Too short, and too long, for its length field.
            [0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E],
            [0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E, 0xCE, 0x00],
            [0x04, 0x0E, 0x06, 0x01, 0x05, 0x14, 0x00, 0x42, 0x0E],
            // Accepted; the answer is yet to come.
            [0x04, 0x0F, 0x04, 0x00, 0x01, 0x05, 0x14],
        ]
        for packet in others { #expect(question.answer(packet) == nil, "\(packet)") }
    }

    @Test func aRefusalIsAnError() {
        #expect(code([0x04, 0x0E, 0x04, 0x01, 0x05, 0x14, 0x01]) == .operationNotSupported)
        #expect(code([0x04, 0x0F, 0x04, 0x01, 0x01, 0x05, 0x14]) == .operationNotSupported)
        #expect(code([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x02, 0x42, 0x0E, 0x00]) == .notConnected)
        #expect(code([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x1F, 0x42, 0x0E, 0x00]) == .unknown)
    }

    /// C's `char` has a sign on x86-64, and none on arm64.
    @Test func theSignalStrengthHasASignOnEachArchitecture() {
        let question = HCIReadRSSI(handle: 1)
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x01, 0x00, 0x80]) == .success(-128))
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x01, 0x00, 0xFF]) == .success(-1))
    }

    // MARK: The kernel's structures; the numbers are those of a little-endian machine, like all supported ones.

    @Test func structuresAreTheKernels() throws {
        #expect(ControllerStructures.address(of: 2) == [31, 0, 2, 0, 0, 0])
        #expect(ControllerStructures.filter == [0x10, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x05, 0x14, 0, 0])
        let peer = try #require(L2CAPAddress("F0:F1:F2:F3:F4:F5", isRandom: true))
        var request = ControllerStructures.connectionRequest(peer)
        #expect(request.count == 24)
        #expect(Array(request[..<8]) == [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x80, 0])
        request[8] = 0x42
        request[9] = 0x0E
        #expect(ControllerStructures.handle(request) == 0x0E42)
    }

    @Test func structuresOfDevicesAreTheKernels() {
        var list = ControllerStructures.deviceList
        #expect(list.count == 4 + 16 * 8)
        #expect(Array(list[..<4]) == [16, 0, 0, 0])
        // Two: 0 and 3, each with irrelevant options.
        list[0] = 2
        list.replaceSubrange(4..<20, with: [0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 3, 0, 0, 0, 0xFF, 0xFF, 0, 0])
        #expect(ControllerStructures.devices(list) == [0, 3])
        // A larger number than the list has room for.
        list[0] = 0xFF
        #expect(ControllerStructures.devices(list).count == 16)

        var info = ControllerStructures.deviceInfo(of: 3)
        #expect(info.count == 92)
        #expect(Array(info[..<10]) == [3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        info.replaceSubrange(10..<16, with: [0x55, 0x44, 0x33, 0x22, 0x11, 0x00])
        #expect(ControllerStructures.publicAddress(info) == [0x00, 0x11, 0x22, 0x33, 0x44, 0x55])
    }

    @Test func anAdapterIsAControllerOfThisMachineByItsPublicAddress() throws {
        let (own, other): ([UInt8], [UInt8]) = ([0x00, 0x11, 0x22, 0x33, 0x44, 0x55], [0, 0, 0, 0, 0, 0])
        let address = try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false))
        #expect(ControllerStructures.includes(address, [other, own]))
        #expect(!ControllerStructures.includes(address, [other]))
        #expect(!ControllerStructures.includes(address, []))
        // The kernel does not report a static random address.
        let random = try #require(L2CAPAddress("C0:11:22:33:44:55", isRandom: true))
        #expect(ControllerStructures.includes(random, [other]))
        #expect(!ControllerStructures.includes(random, []))
    }
}
#endif
