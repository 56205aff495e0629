import BluetoothSupport
import Foundation

@testable import BluetoothHCI

/// A host of a controller whose packets are written and read as hexadecimal text; that of packets begins with their type.
struct ControllerHost {
    static let address = HCIAddress(bits: 0x0011_2233_4455, isRandom: false)
    static let peer = HCIAddress(bits: 0xC0DE_0000_180D, isRandom: true)
    static let parameters = HCIConnectionParameters(
        interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(4_200))

    var controller: Controller
    /// The commands that the last packet or event led to.
    private(set) var commands: [LinkLayerCommand] = []

    /// - Parameter wanted: The LE event mask; all other events are wanted, if it is given.
    init(bufferCount: UInt8 = 4, wanted: UInt64? = nil) {
        controller = Controller(
            Controller.Configuration(
                address: Self.address, bufferCount: bufferCount, seed: 1, cipher: Self.cipher))
        guard let wanted else { return }
        ask(0x0C01, "FFFFFFFFFFFFFFFF")
        var mask: [UInt8] = []
        mask.append(littleEndian: wanted)
        ask(0x2001, Self.hex(mask))
    }

    /// Wants all events of LE but the enhanced ones and Channel Selection Algorithm.
    static let usual: UInt64 = 0x3_1C7F

    /// AES-128 of the blocks in the tests; another block becomes the sum of its bytes and those of the key.
    static let cipher: @Sendable ([UInt8], [UInt8]) -> [UInt8] = { key, block in
        let known = [
            // FIPS 197, C.1.
            "000102030405060708090a0b0c0d0e0f00112233445566778899aabbccddeeff": "69c4e0d86a7b0430d8cdb78070b4c55a",
            // Core Specification, Vol 3, Part H, D.7.
            "ec0234a357c8ad05341010a60a397d9b00000000000000000000000000708194": "159d5fb72ebe2311a48c1bdcc40dfbaa",
        ]
        if let result = known[hex(key + block)] { return bytes(result) }
        return zip(key, block).map { $0 &+ $1 }
    }

    /// Sends a command, and returns the answer and the events.
    @discardableResult mutating func ask(_ opcode: UInt16, _ parameters: String = "") -> [String] {
        send(HCIPacket(command: opcode, Self.bytes(parameters)))
    }

    @discardableResult mutating func send(_ packet: HCIPacket) -> [String] { read(controller.receive(packet)) }

    /// Sends an ACL packet.
    @discardableResult mutating func send(acl handle: UInt16, boundary: UInt16 = 0, _ data: [UInt8]) -> [String] {
        let body = (handle | boundary << 12).bytes + UInt16(data.count).bytes + data
        return send(HCIPacket(kind: .acl, isReceived: false, body: body))
    }

    @discardableResult mutating func handle(_ event: LinkLayerEvent) -> [String] { read(controller.handle(event)) }

    /// Lets a link begin.
    @discardableResult mutating func connect(
        _ handle: UInt16 = 0x40, isCentral: Bool = true, peer: HCIAddress = Self.peer, set: UInt8? = nil
    ) -> [String] {
        self.handle(
            .connected(
                HCIConnection(
                    handle: handle, isCentral: isCentral, peer: peer, privateAddress: nil, localPrivateAddress: nil,
                    parameters: Self.parameters),
                set: set))
    }

    private mutating func read(_ output: Controller.Output) -> [String] {
        commands = output.commands
        return output.packets.map { Self.hex([$0.kind.rawValue] + $0.body) }
    }

    /// The text of Command Complete.
    static func complete(_ opcode: UInt16, _ values: String) -> String {
        hex([0x04, 0x0E, UInt8(3 + values.count / 2), 1] + opcode.bytes) + values.lowercased()
    }

    /// The text of Command Status.
    static func status(_ opcode: UInt16, _ status: HCIStatus) -> String {
        hex([0x04, 0x0F, 4, status.rawValue, 1] + opcode.bytes)
    }

    static func hex(_ bytes: [UInt8]) -> String { Data(bytes).hexText.lowercased() }

    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension AdvertisingReport {
    static func heard(
        _ address: HCIAddress = ControllerHost.peer, _ data: [UInt8] = [2, 1, 6], isConnectable: Bool = true,
        isScannable: Bool = true, isScanResponse: Bool = false, setID: UInt8? = nil
    ) -> AdvertisingReport {
        var report = AdvertisingReport(
            address: address, data: data, rssi: -60, isConnectable: isConnectable, isScannable: isScannable,
            isScanResponse: isScanResponse)
        report.setID = setID
        return report
    }
}
