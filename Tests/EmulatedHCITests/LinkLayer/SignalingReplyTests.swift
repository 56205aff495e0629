import BluetoothHCI
import Testing

@testable import EmulatedHCI

/// Core Specification, Vol 3, Part A, 4.
struct SignalingReplyTests {
    private func reply(_ code: UInt8, _ content: [UInt8], isCentral: Bool = false) -> SignalingReply? {
        SignalingReply([code, 7, UInt8(content.count), 0] + content, isCentral: isCentral)
    }

    private func request(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) -> [UInt8] {
        [minimum, maximum, latency, timeout].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    @Test func theCentralAcceptsTheParametersOfAPeripheral() {
        let reply = reply(0x12, request(24, 40, 4, 300))
        #expect(reply?.bytes == [0x13, 7, 2, 0, 0, 0])
        #expect(
            reply?.parameters
                == HCIConnectionParameters(
                    interval: .milliseconds(50), latency: 4, supervisionTimeout: .milliseconds(3_000)))
    }

    @Test(
        arguments: [
            (5, 40, 0, 300), (24, 3201, 0, 300), (40, 24, 0, 300), (24, 40, 500, 300), (24, 40, 0, 9),
            (24, 40, 0, 3201),
        ] as [(UInt16, UInt16, UInt16, UInt16)])
    func parametersOutOfRangeAreRejected(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) {
        let reply = reply(0x12, request(minimum, maximum, latency, timeout))
        #expect(reply?.bytes == [0x13, 7, 2, 0, 1, 0])
        #expect(reply?.parameters == nil)
    }

    @Test func aCentralDoesNotRequestParameters() {
        #expect(reply(0x12, request(24, 40, 4, 300), isCentral: true)?.bytes == [0x01, 7, 2, 0, 0, 0])
    }

    @Test func noPSMIsSupported() {
        #expect(
            reply(0x14, [0x80, 0, 0x40, 0, 100, 0, 100, 0, 1, 0])?.bytes
                == [0x15, 7, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0])
    }

    @Test(arguments: [0x02, 0x04, 0x06, 0x08, 0x0A, 0x17, 0x19, 0xFF] as [UInt8])
    func otherRequestsAreNotUnderstood(_ code: UInt8) {
        #expect(reply(code, [1, 2])?.bytes == [0x01, 7, 2, 0, 0, 0])
    }

    @Test(arguments: [0x01, 0x03, 0x05, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A] as [UInt8])
    func responsesHaveNoReply(_ code: UInt8) { #expect(reply(code, [0, 0]) == nil) }

    @Test(
        arguments: [[], [0x14], [0x14, 7], [0x14, 7, 1], [0x14, 7, 2, 0, 1], [0x12, 7, 2, 0, 24, 0]] as [[UInt8]])
    func aPacketThatIsTooShortHasNoReply(_ packet: [UInt8]) {
        #expect(SignalingReply(packet, isCentral: false) == nil)
    }
}
