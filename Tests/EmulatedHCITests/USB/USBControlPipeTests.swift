import BluetoothHCI
import Testing

@testable import EmulatedHCI

/// Universal Serial Bus Specification 2.0, 9.4.
struct USBControlPipeTests {
    private static let stalled = USBHost.Reply.failed(1, -32)

    /// Every field that a driver or a user's tool reads.
    @Test func theDeviceIsAFullSpeedBluetoothControllerOfOneConfiguration() {
        var host = USBHost()
        let device: [UInt8] = [
            18, 1, 0x00, 0x02, 0xE0, 0x01, 0x01, 64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 1, 2, 0, 1,
        ]
        #expect(host.control(1, [0x80, 6, 0, 1, 0, 0, 18, 0]) == .submitted(1, device))
    }

    @Test func itsInterfaceHasAnEndpointForEventsAndTwoForData() {
        var host = USBHost()
        let configuration: [UInt8] =
            [9, 2, 39, 0, 1, 1, 0, 0x80, 50] + [9, 4, 0, 0, 3, 0xE0, 0x01, 0x01, 0] + [7, 5, 0x81, 3, 16, 0, 1]
            + [7, 5, 0x82, 2, 64, 0, 0] + [7, 5, 0x02, 2, 64, 0, 0]
        #expect(host.control(1, [0x80, 6, 0, 2, 0, 0, 255, 0]) == .submitted(1, configuration))
    }

    @Test func stringsAreTextOfUTF16InOneLanguage() {
        var host = USBHost()
        #expect(host.control(1, [0x80, 6, 0, 3, 0, 0, 255, 0]) == .submitted(1, [4, 3, 0x09, 0x04]))
        for (index, text) in ["swift-corebluetooth", "Emulated Bluetooth adapter"].enumerated() {
            let bytes = text.utf8.flatMap { [$0, 0] as [UInt8] }
            #expect(
                host.control(2, [0x80, 6, UInt8(index + 1), 3, 0x09, 0x04, 255, 0])
                    == .submitted(2, [UInt8(bytes.count + 2), 3] + bytes))
        }
        #expect(host.control(1, [0x80, 6, 3, 3, 0x09, 0x04, 255, 0]) == Self.stalled)
    }

    @Test(arguments: [0, 1, 8, 17, 18, 19, 64] as [UInt8]) func anAnswerIsAsLongAsTheHostWants(_ length: UInt8) {
        var host = USBHost()
        let whole = host.control(1, [0x80, 6, 0, 1, 0, 0, 18, 0])?.data ?? []
        #expect(
            host.control(2, [0x80, 6, 0, 1, 0, 0, length, 0]) == .submitted(2, Array(whole.prefix(Int(length)))))
    }

    /// The buffer may be smaller than the length in the request, or larger.
    @Test func anAnswerIsNoLongerThanTheBufferAndTheLengthInTheRequest() {
        var host = USBHost()
        let large = host.submit(2, endpoint: 0, isIn: true, length: 64, setup: [0x80, 6, 0, 1, 0, 0, 2, 0])
        #expect(host.send(large) == [.submitted(2, [18, 1])])
        let request = host.submit(1, endpoint: 0, isIn: true, length: 8, setup: [0x80, 6, 0, 1, 0, 0, 18, 0])
        #expect(host.send(request) == [.submitted(1, [18, 1, 0x00, 0x02, 0xE0, 0x01, 0x01, 64])])
    }

    /// Device qualifiers belong to high-speed devices, and BOS descriptors to USB 2.1; there is one device and configuration.
    @Test(arguments: [(0, 6), (0, 15), (1, 1), (1, 2), (0, 4), (0, 5), (0, 0)] as [(UInt8, UInt8)])
    func otherDescriptorsStall(_ index: UInt8, _ kind: UInt8) {
        var host = USBHost()
        #expect(host.control(1, [0x80, 6, index, kind, 0, 0, 18, 0]) == Self.stalled)
        #expect(host.control(1, [0x81, 6, 0, 1, 0, 0, 18, 0]) == Self.stalled, "descriptors are the device's")
    }

    @Test func theConfigurationIsReadAndChosen() {
        var host = USBHost()
        #expect(host.control(1, [0x80, 8, 0, 0, 0, 0, 1, 0]) == .submitted(1, [0]))
        #expect(host.control(2, [0x00, 9, 1, 0, 0, 0, 0, 0]) == .sent(2, 0))
        #expect(host.control(3, [0x80, 8, 0, 0, 0, 0, 1, 0]) == .submitted(3, [1]))
        #expect(host.control(1, [0x00, 9, 2, 0, 0, 0, 0, 0]) == Self.stalled)
        #expect(host.control(1, [0x00, 9, 1, 1, 0, 0, 0, 0]) == Self.stalled, "the value has 16 bits")
        #expect(host.control(4, [0x00, 9, 0, 0, 0, 0, 0, 0]) == .sent(4, 0))
        #expect(host.control(5, [0x80, 8, 0, 0, 0, 0, 1, 0]) == .submitted(5, [0]))
    }

    @Test func transfersOfAConfigurationThatIsLeftStall() {
        var host = USBHost.configured
        #expect(host.read(1, endpoint: 1, room: 16) == [])
        #expect(host.read(2, endpoint: 2, room: 64) == [])
        let leave = host.submit(3, endpoint: 0, isIn: false, length: 0, setup: [0x00, 9, 0, 0, 0, 0, 0, 0])
        #expect(host.send(leave) == [.sent(3, 0), .failed(1, -32), .failed(2, -32)])
    }

    @Test func theInterfaceHasOneSetting() {
        var host = USBHost.configured
        #expect(host.control(1, [0x81, 10, 0, 0, 0, 0, 1, 0]) == .submitted(1, [0]))
        #expect(host.control(2, [0x01, 11, 0, 0, 0, 0, 0, 0]) == .sent(2, 0))
        #expect(host.control(1, [0x01, 11, 1, 0, 0, 0, 0, 0]) == Self.stalled, "no other setting")
        #expect(host.control(1, [0x01, 11, 0, 0, 1, 0, 0, 0]) == Self.stalled, "no interface for synchronous data")
        #expect(host.control(1, [0x81, 10, 0, 0, 1, 0, 1, 0]) == Self.stalled)
        var other = USBHost()
        #expect(other.control(1, [0x81, 10, 0, 0, 0, 0, 1, 0]) == Self.stalled, "no interface without a configuration")
        #expect(other.control(1, [0x01, 11, 0, 0, 0, 0, 0, 0]) == Self.stalled)
    }

    @Test(arguments: [[0x01, 11, 0, 0, 0, 0, 0, 0], [0x00, 9, 1, 0, 0, 0, 0, 0]] as [[UInt8]])
    func choosingASettingClearsHaltedEndpoints(_ request: [UInt8]) {
        var host = USBHost.configured
        #expect(host.control(1, [2, 3, 0, 0, 0x82, 0, 0, 0]) == .sent(1, 0))
        #expect(host.control(2, request) == .sent(2, 0))
        #expect(host.control(3, [0x82, 0, 0, 0, 0x82, 0, 2, 0]) == .submitted(3, [0, 0]))
        #expect(host.read(4, endpoint: 2, room: 64) == [])
    }

    @Test func theDeviceIsPoweredByTheBusWithoutRemoteWakeup() {
        var host = USBHost.configured
        #expect(host.control(1, [0x80, 0, 0, 0, 0, 0, 2, 0]) == .submitted(1, [0, 0]))
        #expect(host.control(1, [0x00, 3, 1, 0, 0, 0, 0, 0]) == Self.stalled, "DEVICE_REMOTE_WAKEUP")
    }

    @Test func interfaceAndEndpointsHaveAStatus() {
        var host = USBHost.configured
        #expect(host.control(1, [0x81, 0, 0, 0, 0, 0, 2, 0]) == .submitted(1, [0, 0]))
        #expect(host.control(1, [0x81, 0, 0, 0, 1, 0, 2, 0]) == Self.stalled)
        for address in [0, 0x80, 0x81, 0x82, 0x02] as [UInt8] {
            #expect(host.control(2, [0x82, 0, 0, 0, address, 0, 2, 0]) == .submitted(2, [0, 0]))
        }
        for address in [0x01, 0x83, 0x03] as [UInt8] {
            #expect(host.control(1, [0x82, 0, 0, 0, address, 0, 2, 0]) == Self.stalled)
        }
        #expect(host.control(1, [0x83, 0, 0, 0, 0, 0, 2, 0]) == Self.stalled, "no other recipient")
        var other = USBHost()
        #expect(other.control(1, [0x82, 0, 0, 0, 0x81, 0, 2, 0]) == Self.stalled, "not yet")
        #expect(other.control(1, [0x81, 0, 0, 0, 0, 0, 2, 0]) == Self.stalled, "not yet")
    }

    @Test func onlyEndpointsHalt() {
        var host = USBHost.configured
        #expect(host.control(1, [2, 3, 0, 0, 0x00, 0, 0, 0]) == Self.stalled, "the control pipe is never halted")
        #expect(host.control(2, [2, 1, 0, 0, 0x00, 0, 0, 0]) == .sent(2, 0))
        #expect(host.control(1, [2, 3, 1, 0, 0x81, 0, 0, 0]) == Self.stalled, "no other feature")
        #expect(host.control(1, [2, 3, 0, 0, 0x83, 0, 0, 0]) == Self.stalled, "no such endpoint")
        #expect(host.control(1, [1, 3, 0, 0, 0, 0, 0, 0]) == Self.stalled, "interfaces have no feature")
        #expect(host.control(3, [2, 3, 0, 0, 0x02, 0, 0, 0]) == .sent(3, 0))
        #expect(host.write(4, endpoint: 2, [0x40, 0, 0, 0]) == [.failed(4, -32)])
        #expect(host.read(5, endpoint: 2, room: 64) == [], "the other direction is an endpoint of its own")
    }

    @Test func theAddressIsTheHostControllers() {
        var host = USBHost()
        #expect(host.control(2, [0x00, 5, 127, 0, 0, 0, 0, 0]) == .sent(2, 0))
        #expect(host.control(1, [0x00, 5, 128, 0, 0, 0, 0, 0]) == Self.stalled)
    }

    /// SET_DESCRIPTOR, SYNCH_FRAME, and numbers that the specification reserves.
    @Test(arguments: [[0x00, 7], [0x82, 12], [0x80, 2], [0x00, 4], [0x00, 13]] as [[UInt8]])
    func otherRequestsStall(_ request: [UInt8]) {
        var host = USBHost.configured
        #expect(host.control(1, request + [0, 0, 0, 0, 0, 0]) == Self.stalled)
    }

    @Test func aRequestWhoseDirectionIsNotThatOfTheTransferStalls() {
        var host = USBHost()
        let read = host.submit(
            1, endpoint: 0, isIn: false, length: 2, setup: [0x80, 0, 0, 0, 0, 0, 2, 0], data: [0, 0])
        #expect(host.send(read) == [Self.stalled])
        let command = host.submit(1, endpoint: 0, isIn: true, length: 3, setup: [0x20, 0, 0, 0, 0, 0, 3, 0])
        #expect(host.send(command) == [Self.stalled])
        #expect(host.packets.isEmpty)
    }
}
