import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Reads, writes and notifications of a connected device.
@Suite struct AttributeTests {
    private static let characteristic = "org.bluez.GattCharacteristic1"
    private static let service = DaemonFixture.device + "/service0008"
    private static let notifying = service + "/char0009"
    private static let readable = service + "/char000c"
    private static let commandable = service + "/char000e"
    private static let none = DBusValue.properties([:])

    private func options(_ values: [String: DBusValue]) -> DBusValue { .properties(values) }

    // MARK: Reading

    @Test func aReadShowsTheValueBeforeItIsAnswered() {
        var fixture = DaemonFixture.connected()
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        fixture.respond(.value(Data([1, 2])))
        #expect(fixture.lines() == ["central read", "char000c Value=0x0102", "answer 3 0x0102"])
    }

    @Test func aSecondReadJoinsTheFirstUnlessItsOffsetDiffers() {
        var fixture = DaemonFixture.connected()
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic, from: ":1.2")
        fixture.call("ReadValue", options(["offset": .uint16(1)]), on: Self.readable, Self.characteristic)
        fixture.respond(.value(Data([7])))
        #expect(
            fixture.lines() == [
                "central read", "refuse 5 InProgress: In Progress", "char000c Value=0x07", "answer 3 0x07",
                "answer 4 0x07",
            ])
    }

    @Test func aReadFromAnOffsetGivesTheRest() {
        var fixture = DaemonFixture.connected()
        fixture.call("ReadValue", options(["offset": .uint16(2)]), on: Self.readable, Self.characteristic)
        fixture.respond(.value(Data([1, 2, 3])))
        #expect(fixture.lines().last == "answer 3 0x03")
        fixture.call("ReadValue", options(["offset": .uint16(9)]), on: Self.readable, Self.characteristic)
        fixture.respond(.value(Data([1, 2, 3])))
        #expect(fixture.lines().last == "refuse 4 InvalidArguments: Invalid offset")
    }

    @Test(
        arguments: [
            (0x02, "NotPermitted: Read not permitted"), (0x05, "NotPermitted: Not paired"),
            (0x08, "NotAuthorized: Operation Not Authorized"), (0x0D, "InvalidArguments: Invalid Length"),
            (0x80, "Failed: Operation failed with ATT error: 0x80"),
            (0x0E, "Failed: Operation failed with ATT error: 0x0e"),
        ] as [(UInt8, String)])
    func errorsOfTheDeviceHaveTheTextsOfBlueZ(_ code: UInt8, _ text: String) {
        var fixture = DaemonFixture.connected()
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        fixture.respond(.failure(.att(code, operation: "read")))
        #expect(fixture.lines().last == "refuse 3 " + text)
    }

    @Test func aLinkThatEndsFailsWhatWaits() {
        var fixture = DaemonFixture.connected()
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        fixture.call("WriteValue", .bytes([1]), Self.none, on: Self.readable, Self.characteristic)
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        let refused = fixture.lines().filter { $0.hasPrefix("refuse") }
        #expect(refused == ["refuse 3 Failed: Not connected", "refuse 4 Failed: Not connected"])
    }

    // MARK: Writing

    @Test func oneWriteAtATime() {
        var fixture = DaemonFixture.connected()
        fixture.call("WriteValue", .bytes([1]), Self.none, on: Self.readable, Self.characteristic)
        fixture.call("WriteValue", .bytes([2]), Self.none, on: Self.readable, Self.characteristic)
        #expect(fixture.lines() == ["central write", "refuse 4 InProgress: In Progress"])
    }

    @Test func aWriteFromAnOffsetIsARequestFromThere() {
        var fixture = DaemonFixture.connected()
        fixture.call(
            "WriteValue", .bytes([1]), options(["offset": .uint16(3)]), on: Self.readable, Self.characteristic)
        let requests = fixture.outputs.compactMap { output -> LinkRequest? in
            if case .central(_, .request(_, _, let request)) = output { request } else { nil }
        }
        #expect(requests == [.write(4, Data([1]), offset: 3)])
        fixture.respond(.failure(.att(0x07, operation: "write")))
        #expect(fixture.lines().last == "refuse 3 InvalidArguments: Invalid offset")
    }

    @Test func aLongWriteHasAByteAndEndsWhereAnOffsetCanAndIsNoCommand() {
        var fixture = DaemonFixture.connected()
        fixture.call("WriteValue", .bytes([]), options(["offset": .uint16(1)]), on: Self.readable, Self.characteristic)
        fixture.call(
            "WriteValue", .bytes([1]), options(["offset": .uint16(65_535)]), on: Self.readable, Self.characteristic)
        fixture.call(
            "WriteValue", .bytes([1]), options(["offset": .uint16(1)]), on: Self.commandable, Self.characteristic)
        fixture.call(
            "WriteValue", .bytes([1]), options(["offset": .uint16(1), "type": .string("command")]),
            on: Self.commandable, Self.characteristic)
        #expect(
            fixture.lines() == [
                "refuse 3 Failed: Failed to initiate write", "refuse 4 Failed: Failed to initiate write",
                "refuse 5 NotSupported: Operation is not supported",
                "refuse 6 NotSupported: Operation is not supported",
            ])
    }

    @Test func commandsWaitForCreditsAndAreAnsweredAtOnce() {
        var fixture = DaemonFixture.connected(credits: 1)
        let command = options(["type": .string("command")])
        for _ in 0..<3 {
            fixture.call("WriteValue", .bytes([1]), command, on: Self.commandable, Self.characteristic)
        }
        #expect(fixture.lines() == ["central writeCommand", "answer 3", "answer 4", "answer 5"])
        fixture.report(.writeCredits(link: DaemonFixture.link, count: 1))
        #expect(fixture.lines() == ["central writeCommand"])
    }

    @Test func requestsWaitUntilAllCommandsAreSent() {
        var fixture = DaemonFixture.connected(credits: 1)
        let command = options(["type": .string("command")])
        for _ in 0..<3 {
            fixture.call("WriteValue", .bytes([1]), command, on: Self.commandable, Self.characteristic)
        }
        fixture.call("WriteValue", .bytes([2]), Self.none, on: Self.readable, Self.characteristic)
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["central writeCommand", "answer 3", "answer 4", "answer 5"])
        fixture.report(.writeCredits(link: DaemonFixture.link, count: 1))
        #expect(fixture.lines() == ["central writeCommand"])
        fixture.report(.writeCredits(link: DaemonFixture.link, count: 1))
        fixture.respond(.notifying(true))
        #expect(
            fixture.lines() == [
                "central writeCommand", "central write", "central read", "central setNotifying",
                "char0009 Notifying=true", "answer 8",
            ])
    }

    @Test func aRequestThatWaitsFailsWithItsLink() {
        var fixture = DaemonFixture.connected(credits: 0)
        let command = options(["type": .string("command")])
        fixture.call("WriteValue", .bytes([1]), command, on: Self.commandable, Self.characteristic)
        fixture.call("ReadValue", Self.none, on: Self.readable, Self.characteristic)
        #expect(fixture.lines() == ["answer 3"])
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        #expect(fixture.lines().first == "refuse 4 Failed: Not connected")
    }

    @Test func theTypeOfAWriteIsReadWithoutRegardToCase() {
        var fixture = DaemonFixture.connected()
        fixture.call(
            "WriteValue", .bytes([1]), options(["Type": .string("Command")]), on: Self.commandable,
            Self.characteristic)
        fixture.call(
            "WriteValue", .bytes([1]), options(["type": .string("foo")]), on: Self.commandable, Self.characteristic)
        fixture.call(
            "WriteValue", .bytes([1]), options(["type": .byte(1)]), on: Self.commandable, Self.characteristic)
        fixture.call(
            "ReadValue", options(["type": .byte(1), "OFFSET": .uint16(0)]), on: Self.readable, Self.characteristic)
        #expect(
            fixture.lines() == [
                "central writeCommand", "answer 3", "refuse 4 NotSupported: Operation is not supported",
                "refuse 5 InvalidArguments: Invalid arguments in method call", "central read",
            ])
    }

    @Test func aCommandThatIsTooLongIsNotSent() {
        var fixture = DaemonFixture.connected()
        let command = options(["type": .string("command")])
        fixture.call(
            "WriteValue", .bytes(Array(repeating: 0, count: 98)), command, on: Self.commandable, Self.characteristic)
        #expect(fixture.lines() == ["refuse 3 Failed: Failed to initiate write"])
    }

    @Test func theClientConfigurationIsTheDaemons() {
        var fixture = DaemonFixture.connected()
        fixture.call(
            "WriteValue", .bytes([1, 0]), Self.none, on: Self.notifying + "/desc000b", "org.bluez.GattDescriptor1")
        #expect(fixture.lines() == ["refuse 3 NotPermitted: Write not permitted"])
    }

    // MARK: Notifications

    private func subscribed() -> DaemonFixture {
        var fixture = DaemonFixture.connected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.respond(.notifying(true))
        return fixture
    }

    @Test func theFirstSessionSubscribesAndTheLastOneUnsubscribes() {
        var fixture = subscribed()
        #expect(fixture.lines() == ["central setNotifying", "char0009 Notifying=true", "answer 3"])
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic, from: ":1.2")
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic)
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic)
        #expect(
            fixture.lines() == [
                "answer 4", "answer 5", "answer 6", "refuse 7 Failed: No notify session started",
            ])
        fixture.handle(.clientLeft(":1.2"))
        #expect(fixture.lines() == ["central setNotifying", "char0009 Notifying=false"])
    }

    @Test func aClientThatLeavesBeforeItIsSubscribedLeavesNoSession() {
        var fixture = DaemonFixture.connected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic, from: ":1.2")
        fixture.handle(.clientLeft(":1.2"))
        fixture.respond(.notifying(true))
        #expect(
            fixture.lines() == ["central setNotifying", "refuse 3 Failed: Operation failed", "central setNotifying"],
            "and unsubscribed again")
        fixture.respond(.notifying(false))
        fixture.call("AcquireNotify", Self.none, on: Self.notifying, Self.characteristic, from: ":1.2")
        fixture.respond(.notifying(true))
        #expect(fixture.lines().last == "answer 4 with a socket, MTU 100")
    }

    @Test func eachValueIsASignalOfItsOwn() {
        var fixture = subscribed()
        _ = fixture.lines()
        let values = [1, 1, 2].map {
            CentralEvent.valueNotified(link: DaemonFixture.link, attribute: 2, value: Data([$0]))
        }
        fixture.handle(
            .central(adapter: 0, values[0]), .central(adapter: 0, values[1]), .central(adapter: 0, values[2]))
        #expect(fixture.lines() == ["char0009 Value=0x01", "char0009 Value=0x01", "char0009 Value=0x02"])
    }

    @Test func sessionsSurviveTheLink() {
        var fixture = subscribed()
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        _ = fixture.lines()
        fixture.becomeConnected()
        #expect(fixture.lines().contains("central setNotifying"))
    }

    @Test func aSocketExcludesSessionsAndSessionsExcludeASocket() {
        var fixture = subscribed()
        fixture.call("AcquireNotify", Self.none, on: Self.notifying, Self.characteristic, from: ":1.2")
        #expect(fixture.lines().last == "refuse 4 InProgress: In Progress")
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic)
        fixture.call("AcquireNotify", Self.none, on: Self.notifying, Self.characteristic, from: ":1.2")
        fixture.respond(.notifying(true))
        #expect(fixture.lines().last == "answer 6 with a socket, MTU 100")
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["refuse 7 NotPermitted: Notify acquired"])
    }

    @Test func valuesGoToTheSocketUntilItIsClosed() {
        var fixture = DaemonFixture.connected()
        fixture.call("AcquireNotify", Self.none, on: Self.notifying, Self.characteristic)
        fixture.respond(.notifying(true))
        #expect(
            fixture.lines() == [
                "central setNotifying", "char0009 NotifyAcquired=true Notifying=true",
                "answer 3 with a socket, MTU 100",
            ])
        fixture.report(.valueNotified(link: DaemonFixture.link, attribute: 2, value: Data([5])))
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["send 05", "refuse 4 NotPermitted: Notify acquired"])
        fixture.handle(.closed(ClientSocketID(rawValue: fixture.context.lastNumber)))
        #expect(fixture.lines() == ["central setNotifying", "char0009 NotifyAcquired=false Notifying=false"])
    }

    @Test func packetsOnASocketAreWriteCommands() {
        var fixture = DaemonFixture.connected()
        fixture.call("AcquireWrite", Self.none, on: Self.commandable, Self.characteristic)
        #expect(fixture.lines() == ["char000e WriteAcquired=true", "answer 3 with a socket, MTU 100"])
        fixture.handle(.received(ClientSocketID(rawValue: fixture.context.lastNumber), Data([1])))
        fixture.call("WriteValue", .bytes([1]), Self.none, on: Self.commandable, Self.characteristic)
        #expect(fixture.lines() == ["central writeCommand", "refuse 4 NotPermitted: Write acquired"])
        fixture.handle(.clientLeft(":1.1"))
        #expect(fixture.lines().contains("close a socket"))
    }
}
