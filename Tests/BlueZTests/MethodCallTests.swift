#if os(Linux)
import BluetoothDBus
import FoundationEssentials
import Glibc
import Testing

@testable import BlueZ

@Suite struct MethodCallTests {
    private func call(_ reply: MethodCall.ReplyContent = .nothing, value: Data? = nil) -> MethodCall {
        MethodCall(
            path: CentralRoleFixture.characteristic, interface: GattCharacteristic1.interface, member: "Member",
            value: value, body: [.properties(["type": .string("command")])], reply: reply, deadline: .seconds(1))
    }

    /// A message with the body of a reply; libdbus makes a reply of received calls alone.
    private func reply(_ body: DBusValue...) throws -> DBusMessage {
        try .signal(path: .root, interface: "org.example.Test", member: "Reply", body)
    }

    @Test func aValuePrecedesTheOtherArguments() throws {
        let message = try call(value: Data([1, 2, 3])).message(to: "org.bluez")
        #expect(message.signature == "aya{sv}")
        var body = DBusReader(message)
        #expect(try body.bytes() == [1, 2, 3])
        #expect(try body.properties() == ["type": .string("command")])
    }

    @Test func anEmptyValueIsAValueToo() throws {
        let message = try call(value: Data()).message(to: "org.bluez")
        var body = DBusReader(message)
        #expect(try body.bytes() == [])
        #expect(try call().message(to: "org.bluez").signature == "a{sv}")
    }

    @Test func aReplyIsDecodedAsItsCallExpects() throws {
        guard case .value(let value) = try call(.value).decode(reply(.bytes([7, 8]))) else {
            Issue.record("no value")
            return
        }
        #expect(value == Data([7, 8]))
        let descriptor = DBusValue.fileDescriptor(DBusFileDescriptor(adopting: dup(0)))
        guard case .socket(let socket, let mtu) = try call(.socket).decode(reply(descriptor, .uint16(23))) else {
            Issue.record("no socket")
            return
        }
        #expect(socket.rawValue >= 0 && mtu == 23)
    }

    @Test func aReplyOfOtherTypesIsAnErrorIfItsContentIsUsed() throws {
        let message = try reply(.string("text"))
        #expect(throws: DBusError.self) { _ = try call(.value).decode(message) }
        #expect(throws: DBusError.self) { _ = try call(.socket).decode(message) }
        guard case .empty = try call(.nothing).decode(message) else {
            Issue.record("content that is not used")
            return
        }
    }
}
#endif
