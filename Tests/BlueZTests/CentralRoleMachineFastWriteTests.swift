#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Glibc
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineFastWriteTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private let link: LinkID
    private var characteristic = AttributeID(rawValue: 0)
    /// The first socket that the machine was given.
    private var socket: LinkSocketID { fixture.sockets.first?.socket ?? LinkSocketID(number: 0, peer: peer) }

    init() {
        (fixture, peer, link) = Fixture.connected()
        (_, characteristic) = fixture.discover(on: link)
    }

    private mutating func write(_ bytes: UInt8..., count: Int = 1) {
        let value = Data(bytes.flatMap { [UInt8](repeating: $0, count: count) })
        fixture.command(.writeCommand(link: link, attribute: characteristic, value: value))
    }

    /// Writes over the bus until the next command acquires a socket.
    private mutating func writeUntilWorthwhile() {
        for byte in 0..<UInt8(FastWrites.worthwhile) { write(byte) }
        while fixture.answer("WriteValue") != nil {}
        fixture.clear()
    }

    private mutating func acquire() {
        writeUntilWorthwhile()
        write(100)
        let descriptor = DBusFileDescriptor(adopting: dup(0))
        fixture.answer("AcquireWrite", with: .success([.fileDescriptor(descriptor), .uint16(23)]))
    }

    private var written: [Data] {
        fixture.sockets.compactMap { if case .write(let data) = $0.action { data } else { nil } }
    }

    private var credits: Int {
        fixture.events.reduce(0) { if case .writeCredits(_, let count) = $1 { $0 + count } else { $0 } }
    }

    private var isClosed: Bool { fixture.sockets.contains { $0.action == .close } }

    /// Closes the sockets that the machine took over.
    private func finish() {
        for case .adopt(let descriptor) in fixture.sockets.map(\.action) { close(descriptor) }
    }

    @Test mutating func manyCommandsAreWorthASocket() {
        writeUntilWorthwhile()
        #expect(fixture.waiting.isEmpty)
        write(100)
        write(101)
        // Later commands wait for the socket, in order.
        #expect(fixture.waiting == ["AcquireWrite"])
        fixture.answer(
            "AcquireWrite",
            with: .success([.fileDescriptor(DBusFileDescriptor(adopting: dup(0))), .uint16(23)]))
        #expect(written == [Data([100]), Data([101])])
        #expect(credits == 0)
        fixture.input(.socket(socket, .sent(2)))
        #expect(credits == 2)
        finish()
    }

    @Test mutating func noSocketIsAskedForWhereTheBusPassesNone() {
        fixture.host.objects.passesDescriptors = false
        writeUntilWorthwhile()
        write(100)
        write(101)
        #expect(fixture.waiting == ["WriteValue", "WriteValue"])
    }

    @Test mutating func anAnswerToAnEarlierCommandIsNotTheSocket() {
        for byte in 0...UInt8(FastWrites.worthwhile) { write(byte) }
        #expect(fixture.waiting.last == "AcquireWrite")
        while fixture.answer("WriteValue") != nil {}
        #expect(fixture.waiting == ["AcquireWrite"])
        #expect(credits == FastWrites.worthwhile)
        fixture.answer(
            "AcquireWrite",
            with: .success([.fileDescriptor(DBusFileDescriptor(adopting: dup(0))), .uint16(23)]))
        #expect(written == [Data([UInt8(FastWrites.worthwhile)])])
        #expect(fixture.waiting.isEmpty)
        finish()
    }

    @Test mutating func aRefusedSocketMeansTheBusForTheWholeLink() {
        writeUntilWorthwhile()
        write(100)
        fixture.refuse("AcquireWrite", "NotPermitted", "Write acquired")
        #expect(fixture.waiting == ["WriteValue"])
        fixture.answer("WriteValue")
        #expect(credits == 1)
        for byte in 0..<UInt8(20) {
            write(byte)
            #expect(fixture.answer("WriteValue") != nil)
        }
    }

    @Test mutating func whatFollowsWaitsUntilTheDaemonHasReadEverything() {
        acquire()
        fixture.command(.request(link: link, operation: OperationID(rawValue: 60), .read(characteristic)))
        #expect(fixture.waiting.isEmpty)
        #expect(fixture.sockets.map(\.action).last == .drain)
        fixture.input(.socket(socket, .sent(1)))
        fixture.input(.socket(socket, .drained))
        #expect(fixture.waiting == ["ReadValue"])
        // The socket is kept for later commands.
        fixture.answer("ReadValue", with: .success([.bytes([1])]))
        write(7)
        #expect(written.last == Data([7]) && !isClosed)
        finish()
    }

    @Test mutating func aWriteRequestGetsTheCharacteristicBack() {
        acquire()
        let operation = OperationID(rawValue: 60)
        fixture.command(.request(link: link, operation: operation, .write(characteristic, Data([1]))))
        fixture.input(.socket(socket, .sent(1)))
        fixture.input(.socket(socket, .drained))
        #expect(isClosed)
        // The daemon may receive the call before it notices the end of the socket.
        fixture.refuse("WriteValue", "NotPermitted", "Write acquired")
        fixture.fire(.link(peer, .attributeRetry))
        fixture.answer("WriteValue")
        #expect(fixture.events.last == .response(link: link, operation: operation, .written))
        finish()
    }

    @Test(arguments: [0, 21])
    mutating func whatASocketCannotCarryGoesOverTheBus(count: Int) {
        acquire()
        fixture.input(.socket(socket, .sent(1)))
        write(9, count: count)
        fixture.input(.socket(socket, .drained))
        #expect(isClosed && fixture.waiting == ["WriteValue"])
        #expect(written == [Data([100])])
        finish()
    }

    @Test mutating func whatTheDaemonDidNotTakeGoesOverTheBusInOrder() {
        acquire()
        write(101)
        write(102)
        fixture.input(.socket(socket, .sent(1)))
        fixture.input(.socket(socket, .closed))
        #expect(credits == 1)
        var values: [DBusValue] = []
        while let call = fixture.answer("WriteValue") { values.append(call.arguments[0]) }
        #expect(values == [.bytes([101]), .bytes([102])])
        #expect(credits == 3)
        finish()
    }

    @Test mutating func aDaemonThatDoesNotReadItsSocketIsWaitedForUntilTheDeadline() {
        acquire()
        write(101)
        fixture.command(.request(link: link, operation: OperationID(rawValue: 60), .read(characteristic)))
        #expect(!fixture.waiting.contains("ReadValue"))
        fixture.fire(.link(peer, .draining))
        #expect(isClosed)
        // The commands that the socket did not accept go first.
        #expect(fixture.waiting.first == "WriteValue")
        while fixture.answer("WriteValue") != nil {}
        #expect(fixture.waiting == ["ReadValue"])
        finish()
    }

    @Test mutating func theSocketGoesWithItsLink() {
        acquire()
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        #expect(isClosed)
        finish()
    }
}
#endif
