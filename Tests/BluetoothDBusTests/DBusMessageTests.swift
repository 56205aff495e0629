#if os(Linux)
import Glibc
import Testing

@testable import BluetoothDBus

@Suite struct DBusMessageTests {
    private func signal(_ body: [DBusValue]) throws -> DBusMessage {
        try .signal(path: Samples.path, interface: "org.example.Test", member: "Sent", body)
    }

    @Test(arguments: Samples.values)
    func everyValueIsReadAsItWasWritten(value: DBusValue) throws {
        let message = try signal([value])
        #expect(message.signature == value.type.text)
        var reader = DBusReader(message)
        #expect(try reader.value() == value)
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
    }

    @Test func valuesFollowEachOther() throws {
        var reader = DBusReader(try signal(Samples.values))
        #expect(try reader.remainingValues() == Samples.values)
    }

    @Test func bytesInMemoryAreAppendedLikeAValueOfBytes() throws {
        for bytes in [[], [1], Array(repeating: 7, count: 512)] as [[UInt8]] {
            let message = try signal([.byte(9)])
            try message.append(bytes.span)
            try message.append([.boolean(true)])
            var reader = DBusReader(message)
            #expect(try reader.remainingValues() == [.byte(9), .bytes(bytes), .boolean(true)])
        }
    }

    @Test func readingByTypeGivesTheContent() throws {
        let message = try signal([
            .string("org.bluez.Device1"), .properties(["RSSI": .int16(-7)]), .strings(["TxPower"]), .bytes([1, 2]),
            .objectPath(Samples.path), .boolean(true), .byte(9), .uint16(517), .uint32(1),
        ])
        var reader = DBusReader(message)
        #expect(try reader.string() == "org.bluez.Device1")
        #expect(try reader.properties() == ["RSSI": .int16(-7)])
        #expect(try reader.strings() == ["TxPower"])
        #expect(try reader.bytes() == [1, 2])
        #expect(try reader.path() == Samples.path)
        #expect(try reader.bool())
        #expect(try reader.byte() == 9)
        #expect(try reader.uint16() == 517)
        #expect(try reader.uint32() == 1)
        #expect(throws: DBusError.self) { try reader.string() }
    }

    @Test func anUnexpectedTypeIsAnErrorAndMovesNothing() throws {
        var reader = DBusReader(try signal([.string("x")]))
        #expect(throws: DBusError.self) { try reader.uint16() }
        #expect(throws: DBusError.self) { try reader.bytes() }
        #expect(throws: DBusError.self) { try reader.properties() }
        #expect(throws: DBusError.self) { try reader.structure() }
        #expect(try reader.string() == "x")
    }

    @Test(arguments: [
        DBusValue.string("a\0b"), .structure([]), .array(.string, [.byte(1)]), .array(.byte, [.byte(1)]),
        .dictionary(.init(keyType: .variant, valueType: .byte, entries: [])),
        .dictionary(.init(keyType: .string, valueType: .byte, entries: [.init(key: .byte(1), value: .byte(1))])),
        .variant(.string("\0")), .fileDescriptor(DBusFileDescriptor(adopting: -1)),
    ])
    func aValueThatBreaksARuleIsRefusedBeforeLibdbusSeesIt(value: DBusValue) {
        #expect(throws: DBusError.self) { try signal([value]) }
    }

    @Test func variantsNestAtMost64Deep() throws {
        func nested(_ depth: Int) -> DBusValue {
            (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) }
        }
        _ = try signal([nested(64)])
        #expect(throws: DBusError.self) { try signal([nested(65)]) }
    }

    @Test func anArrayHasAtMost64MiB() throws {
        _ = try signal([.bytes(Array(repeating: 0, count: 64 << 20))])
        #expect(throws: DBusError.self) { try signal([.bytes(Array(repeating: 0, count: (64 << 20) + 1))]) }
    }

    @Test func aMessageHasAtMost128MiB() {
        let half = DBusValue.bytes(Array(repeating: 0, count: 64 << 20))
        #expect(throws: DBusError.self) { try signal([half, half]) }
    }

    @Test func badNamesAreRefused() {
        #expect(throws: DBusError.self) {
            try DBusMessage.methodCall(to: "nodots", path: .root, interface: "a.b", member: "M")
        }
        #expect(throws: DBusError.self) {
            try DBusMessage.methodCall(to: "a.b", path: .root, interface: "a b", member: "M")
        }
        #expect(throws: DBusError.self) {
            try DBusMessage.methodCall(to: "a.b", path: .root, interface: "a.b", member: "M M")
        }
    }

    @Test func aDescriptorInAMessageIsADuplicateOfItsOwn() throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let readEnd = DBusFileDescriptor(adopting: ends[0])
        let writeEnd = DBusFileDescriptor(adopting: ends[1])
        var received: DBusFileDescriptor?
        do {
            var reader = DBusReader(try signal([.fileDescriptor(writeEnd)]))
            received = try reader.fileDescriptor()
        }
        let descriptor = try #require(received)
        #expect(descriptor.rawValue != writeEnd.rawValue)
        #expect(fcntl(descriptor.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        received = nil
        _ = consume descriptor
        // The reader's end is reported when no descriptor of the other end is open; a number alone may be in use again.
        #expect(close(try #require(writeEnd.release())) == 0)
        var byte: UInt8 = 0
        #expect(read(readEnd.rawValue, &byte, 1) == 0)
    }

    @Test func aTakenDescriptorIsTheCallersToClose() throws {
        let original = DBusFileDescriptor(adopting: dup(0))
        let number = try #require(original.release())
        #expect(original.release() == nil)
        #expect(original.rawValue == -1)
        #expect(close(number) == 0)
    }

    @Test func anErrorMessageCarriesNameAndText() throws {
        let call = try DBusMessage.methodCall(to: "org.bluez", path: .root, interface: "a.b", member: "M")
        // libdbus answers only messages with a serial number.
        dbus_message_set_serial(call.raw, 7)
        let reply = try call.errorReply(
            DBusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
        #expect(reply.error == DBusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
        #expect(call.error == nil)
    }
}
#endif
