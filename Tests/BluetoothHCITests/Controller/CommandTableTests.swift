import Testing

@testable import BluetoothHCI

/// Rules that follow from the table of commands.
@Suite struct CommandTableTests {
    /// The octets that a host reads, without the status.
    private func supportedCommands() -> [UInt8] {
        var host = ControllerHost()
        return ControllerHost.bytes(String(host.ask(0x1002)[0].dropFirst(14)))
    }

    @Test func aBitOfSupportedCommandsIsSetForEachCommandAndForNoOther() {
        let octets = supportedCommands()
        #expect(octets.count == 64)
        #expect(octets.reduce(0) { $0 + $1.nonzeroBitCount } == HCICommand.allCases.count)
        for command in HCICommand.allCases {
            #expect(octets[command.definition.octet] >> command.definition.bit & 1 == 1, "\(command)")
        }
    }

    /// The table of the Core Specification, Vol 4, Part E, 6.27.
    @Test(arguments: [
        (0x0406, 0, 5), (0x0C03, 5, 7), (0x0C35, 10, 7), (0x1009, 15, 1), (0x1405, 15, 5), (0x2001, 25, 0),
        (0x2008, 25, 7), (0x200D, 26, 4), (0x2013, 27, 2), (0x201C, 28, 3), (0x2022, 33, 6), (0x2027, 34, 3),
        (0x202F, 35, 3), (0x2036, 36, 2), (0x2043, 37, 7), (0x204E, 39, 2), (0x2060, 41, 5),
    ])
    func theBitsAreThoseOfTheSpecification(opcode: Int, octet: Int, bit: Int) {
        #expect(supportedCommands()[octet] >> bit & 1 == 1)
        #expect(HCICommand(rawValue: UInt16(opcode))?.definition.octet == octet)
        #expect(HCICommand(rawValue: UInt16(opcode))?.definition.bit == bit)
    }

    @Test func everySupportedCommandIsAnsweredAndEveryOtherOneIsUnknown() {
        for opcode in UInt16.min...UInt16.max {
            var host = ControllerHost()
            let unknown = [ControllerHost.status(opcode, .unknownCommand)]
            guard let command = HCICommand(rawValue: opcode) else {
                let answer = host.ask(opcode)
                if answer != unknown { Issue.record("\(opcode) has the answer \(answer)") }
                continue
            }
            let zeros = String(repeating: "00", count: command.definition.length.lowerBound)
            let answer = host.ask(opcode, zeros)
            #expect(answer != unknown, "\(command)")
            #expect(answer.count == 1 || command == .hostNumberOfCompletedPackets, "\(command)")
        }
    }

    /// Vol 4, Part E, 4.5.
    @Test func parametersOfAWrongLengthAreInvalid() {
        for command in HCICommand.allCases {
            let (definition, opcode) = (command.definition, command.rawValue)
            for length in [definition.length.lowerBound - 1, definition.length.upperBound + 1]
            where (0...255).contains(length) {
                var host = ControllerHost()
                let answer = host.ask(opcode, String(repeating: "00", count: length))
                switch definition.answer {
                case .commandStatus:
                    #expect(answer == [ControllerHost.status(opcode, .invalidCommandParameters)], "\(command)")
                case .commandCompleteWithHandle:
                    #expect(answer == [ControllerHost.complete(opcode, "120000")], "\(command)")
                case .commandComplete, .errorsAlone:
                    #expect(answer == [ControllerHost.complete(opcode, "12")], "\(command)")
                }
            }
        }
    }

    @Test func aCommandWhoseLengthIsNotThatOfItsParametersIsInvalid() {
        var host = ControllerHost()
        let packet = HCIPacket(kind: .command, isReceived: false, body: [0x03, 0x0C, 1])
        #expect(host.send(packet) == ["040e0401030c12"])
        #expect(host.send(HCIPacket(kind: .command, isReceived: false, body: [0x03, 0x0C])) == [])
    }

    @Test func commandsOfALinkThatDoesNotExistNameIt() {
        var host = ControllerHost()
        for command in HCICommand.allCases where command.definition.answer == .commandCompleteWithHandle {
            let rest = String(repeating: "00", count: command.definition.length.lowerBound - 2)
            #expect(
                host.ask(command.rawValue, "4100" + rest) == [ControllerHost.complete(command.rawValue, "024100")],
                "\(command)")
        }
        #expect(host.ask(0x0406, "410013") == [ControllerHost.status(0x0406, .unknownConnectionIdentifier)])
    }

    /// Vol 4, Part E, 3.1.1.
    @Test func aHostUsesLegacyOrExtendedAdvertisingUntilReset() {
        var host = ControllerHost()
        #expect(host.ask(0x2007) == ["040e05010720000a"])
        #expect(host.ask(0x203B) == ["040e04013b200c"])
        #expect(host.ask(0x0C03) == ["040e0401030c00"])
        #expect(host.ask(0x203B) == ["040e05013b200010"])
        #expect(host.ask(0x200D, String(repeating: "00", count: 25)) == ["040f040c010d20"])
    }
}
