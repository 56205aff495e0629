import BluetoothSupport
import Testing

@testable import BluetoothHCI

/// Random packets and events, many of which are nearly right.
@Suite struct RandomPacketTests {
    @Test(arguments: [1, 2] as [UInt64])
    func eachCommandIsAnsweredOnceAndWhatIsKeptHasABound(seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "packets")
        var controller = ControllerHost(wanted: .max).controller
        var unanswered: [UInt16: Int] = [:]
        for step in 0..<20_000 {
            let output: Controller.Output
            if generator.happens(0.5) {
                let (opcode, parameters) = generator.command()
                output = controller.receive(HCIPacket(command: opcode, parameters))
                unanswered[opcode, default: 0] += 1
                // Reset leaves no command unanswered, and the completed packets of the host have no answer but an error.
                if opcode == HCICommand.reset.rawValue, parameters.isEmpty { unanswered = [opcode: 1] }
                if opcode == HCICommand.hostNumberOfCompletedPackets.rawValue,
                    !output.packets.contains(where: { Self.answered($0) == opcode })
                {
                    unanswered[opcode] = nil
                }
            } else if generator.happens(0.3) {
                output = controller.receive(generator.dataPacket())
            } else {
                output = controller.handle(generator.event())
            }
            for opcode in output.packets.compactMap(Self.answered) {
                unanswered[opcode, default: 0] -= 1
                if unanswered[opcode] == 0 { unanswered[opcode] = nil }
            }
            // The answer to Read RSSI waits for the Link Layer.
            let reading = controller.state.links.values.count { $0.procedures.contains(.signalStrength) }
            let expected = reading == 0 ? [:] : [HCICommand.readRSSI.rawValue: reading]
            guard unanswered == expected, isBounded(controller), isBounded(output) else {
                Issue.record("seed \(seed), step \(step): \(unanswered), \(expected), \(output.packets.count) packets")
                return
            }
            // A host that asks for anything stays in few states.
            if generator.happens(0.002) {
                unanswered = [:]
                _ = controller.receive(HCIPacket(command: 0x0C03))
                _ = controller.receive(HCIPacket(command: 0x0C01, [UInt8](repeating: 0xFF, count: 8)))
                _ = controller.receive(HCIPacket(command: 0x2001, [UInt8](repeating: 0xFF, count: 8)))
            }
        }
    }

    /// Returns the opcode that Command Complete or Command Status answers.
    private static func answered(_ packet: HCIPacket) -> UInt16? {
        guard packet.kind == .event, let code = packet.body.first, code == 0x0E || code == 0x0F else { return nil }
        let opcode = packet.body[(code == 0x0E ? 3 : 4)...]
        return UInt16(opcode[opcode.startIndex]) | UInt16(opcode[opcode.startIndex + 1]) << 8
    }

    private func isBounded(_ controller: Controller) -> Bool {
        let state = controller.state
        let pending = state.links.values.reduce(0) { $0 + $1.pendingPackets }
        let waiting = state.links.values.reduce(0) { $0 + $1.waiting.count }
        let sets = state.advertising.values.flatMap { [$0.data.bytes.count, $0.scanResponse.bytes.count] }
        return state.links.count <= Controller.maximumLinks
            && state.acceptList.devices.count <= AcceptList.maximumCount
            && state.resolvingList.count <= ResolvingList.maximumCount
            && state.advertising.count <= AdvertisingSet.maximumCount
            && sets.allSatisfy { $0 <= AdvertisingSet.maximumLength }
            && pending <= Int(controller.configuration.bufferCount) && waiting <= Controller.maximumWaiting
    }

    /// At most the fragments of the longest frame and three events, each of the length that its header names.
    private func isBounded(_ output: Controller.Output) -> Bool {
        output.packets.count <= 65_539 / 27 + 4 && output.commands.count <= AdvertisingSet.maximumCount + 2
            && output.packets.allSatisfy { packet in
                packet.kind == .event
                    ? packet.body.count == 2 + Int(packet.body[1])
                    : packet.body.count == 4 + Int(packet.body[2]) && packet.body[2] <= 251 && packet.body[3] == 0
            }
    }
}

extension SeededGenerator {
    fileprivate mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }

    /// Small numbers are handles, flags and ranges.
    private mutating func plausibleByte() -> UInt8 {
        happens(0.3) ? byte() : happens(0.6) ? UInt8(below(4)) : [0x06, 0x10, 0x18, 0x40, 0xA0, 0xFB][Int(below(6))]
    }

    private mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in plausibleByte() } }

    /// Mostly one of few links.
    private mutating func handle() -> UInt16 {
        happens(0.7) ? UInt16(below(3)) : happens(0.9) ? UInt16(below(24)) : UInt16(truncatingIfNeeded: next())
    }

    private mutating func address() -> HCIAddress {
        HCIAddress(bits: happens(0.8) ? below(4) : next() & 0xFFFF_FFFF_FFFF, isRandom: happens(0.5))
    }

    private mutating func parameters() -> HCIConnectionParameters {
        HCIConnectionParameters(
            interval: .milliseconds(Int(below(5_000))), latency: Int(below(600)),
            supervisionTimeout: .milliseconds(Int(below(40_000))))
    }

    /// Valid commands with other bytes here and there, of a length that is mostly right.
    fileprivate mutating func command() -> (UInt16, [UInt8]) {
        guard happens(0.95) else { return (UInt16(truncatingIfNeeded: next()), bytes(Int(below(256)))) }
        let command = HCICommand.allCases[Int(below(UInt64(HCICommand.allCases.count)))]
        if command == .reset, happens(0.9) { return (command.rawValue, [0]) }
        if happens(0.5), let valid = Self.valid[command] {
            var parameters = ControllerHost.bytes(valid)
            if happens(0.3) { parameters[Int(below(UInt64(parameters.count)))] = plausibleByte() }
            return (command.rawValue, parameters)
        }
        let range = command.definition.length
        let length = happens(0.9) ? range.lowerBound + Int(below(UInt64(range.count))) : Int(below(256))
        var parameters = bytes(length)
        if length >= 2, command.definition.answer == .commandCompleteWithHandle {
            parameters.replaceSubrange(0..<2, with: handle().bytes)
        }
        return (command.rawValue, parameters)
    }

    private static let valid: [HCICommand: String] = [
        .setEventMask: "FFFFFFFFFFFFFFFF", .setLEEventMask: "FFFFFFFFFFFFFFFF",
        .setControllerToHostFlowControl: "01", .hostBufferSize: "1B000008000000",
        .hostNumberOfCompletedPackets: "0101000300", .disconnect: "010013", .readRSSI: "0100",
        .setAdvertisingParameters: "A000 A000 00 02 01 000000000001 07 02", .setAdvertisingEnable: "01",
        .setScanParameters: "01100010000000", .setScanEnable: "0101",
        .createConnection: "6000 3000 00 01 010000000000 00 1800 1800 0000 A401 0000 0000",
        .connectionUpdate: "0100 0600 0C00 0000 6400 0000 0000", .addDeviceToAcceptList: "01010000000000",
        .addDeviceToResolvingList: "01010000000000" + String(repeating: "01", count: 32),
        .setAddressResolutionEnable: "01",
        .setExtendedAdvertisingParameters: "01 0100 A00000 A00000 07 02 01 010000000000 00 7F 01 00 01 05 00",
        .setExtendedAdvertisingData: "0101010107", .setExtendedAdvertisingEnable: "010101640003",
        .setExtendedScanParameters: "0000010110001000", .setExtendedScanEnable: "010164000000",
        .extendedCreateConnection: "00 00 01010000000000 01 1000 1000 1800 1800 0000 A401 0000 0000",
        .enableEncryption: "0100" + String(repeating: "01", count: 26), .setPHY: "01000003040000",
        .setDataLength: "0100FB004808",
    ]

    fileprivate mutating func dataPacket() -> HCIPacket {
        let boundary = happens(0.9) ? UInt16(below(2)) : UInt16(below(16))
        var data = bytes(Int(below(happens(0.9) ? 60 : 400)))
        // The frame is often in one packet or a few.
        if happens(0.8), data.count >= 4 {
            (data[0], data[1]) = (UInt8(clamping: data.count - 4 + Int(below(3)) * 40), 0)
        }
        let length = happens(0.95) ? UInt16(data.count) : UInt16(truncatingIfNeeded: next())
        let body = (handle() & 0x0FFF | boundary << 12).bytes + length.bytes + data
        return HCIPacket(kind: .acl, isReceived: false, body: happens(0.97) ? body : Array(body.prefix(Int(below(5)))))
    }

    fileprivate mutating func event() -> LinkLayerEvent {
        switch below(14) {
        case 0, 1:
            var report = AdvertisingReport(
                address: address(), data: bytes(Int(below(happens(0.9) ? 40 : 3_000))), rssi: Int8(bitPattern: byte()),
                isConnectable: happens(0.5), isScannable: happens(0.5), isScanResponse: happens(0.3))
            report.setID = happens(0.5) ? byte() : nil
            return .heard(report)
        case 2: return .scanEnded
        case 3: return .advertisingEnded(set: UInt8(below(3)))
        case 4, 5:
            return .connected(
                HCIConnection(
                    handle: handle(), isCentral: happens(0.5), peer: address(),
                    privateAddress: happens(0.2) ? address() : nil,
                    localPrivateAddress: happens(0.2) ? address() : nil, parameters: parameters()),
                set: happens(0.5) ? UInt8(below(3)) : nil)
        case 6: return .connectEnded(status: byte())
        case 7: return .disconnected(handle: handle(), reason: byte())
        case 8: return .received(handle: handle(), channel: 4, bytes(Int(below(happens(0.95) ? 300 : 70_000))))
        case 9: return .sent(handle: handle())
        case 10:
            return happens(0.5)
                ? .parametersChanged(handle: handle(), status: happens(0.7) ? 0 : byte(), parameters())
                : .parametersRequested(handle: handle(), parameters())
        case 11: return .signalStrength(handle: handle(), Int8(bitPattern: byte()))
        case 12: return .keyRequested(handle: handle(), random: next(), diversifier: UInt16(truncatingIfNeeded: next()))
        default: return .encryptionChanged(handle: handle(), status: happens(0.7) ? 0 : byte())
        }
    }
}
