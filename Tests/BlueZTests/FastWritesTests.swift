#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct FastWritesTests {
    private let path = ObjectPath("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service0010/char0011") ?? .root
    private let socket = LinkSocketID(number: 1, peer: PeerID(UUID()))
    private let attribute = AttributeID(rawValue: 1)

    private func opened() -> FastWrites {
        var writes = FastWrites()
        writes.opened(FastWrites.OpenSocket(path: path, attribute: attribute, id: socket, limit: 3))
        return writes
    }

    private func operation(on link: UInt64) -> CentralLink.Operation {
        let link = LinkID(rawValue: link)
        return CentralLink.Operation(
            manager: Int(link.rawValue), link: link,
            command: .writeCommand(link: link, attribute: attribute, value: Data([1])))
    }

    @Test func whatDoesNotFitGoesAnotherWay() {
        var writes = opened()
        let misfits = [0, 4].compactMap { writes.send(operation(on: 1), Data(count: $0)) }
        #expect(misfits.isEmpty && writes.unsent.isEmpty && !writes.isUndrained)
        let taken = writes.send(operation(on: 1), Data(count: 3))
        #expect(taken == socket && writes.unsent.count == 1 && writes.isUndrained)
    }

    @Test func eachHolderGetsTheCreditsOfItsOwnCommands() {
        var writes = opened()
        for link in [1, 1, 2, 1, 1] as [UInt64] { _ = writes.send(operation(on: link), Data([1])) }
        let credits = writes.sent(4)
        #expect(credits.map(\.manager) == [1, 2, 1])
        #expect(credits.map(\.count) == [2, 1, 1])
        #expect(writes.unsent.count == 1)
        let rest = writes.sent(8)
        #expect(rest.map(\.count) == [1])
        #expect(writes.unsent.isEmpty)
    }

    @Test func aSocketThatWasGivenBackIsNotTakenAgain() {
        var writes = opened()
        writes.giveBack()
        #expect(writes.open == nil)
        #expect(writes[path] == .bus)
        #expect(!writes.isWorthAcquiring(path))
    }
}
#endif
