import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct ChannelMachineTests {
    private func opened(credits: Int = 10) -> ChannelMachine {
        var machine = ChannelMachine(credits: credits)
        for side in ChannelMachine.Side.allCases {
            _ = machine.open(side)
            while machine.nextNotice(side) != nil {}
        }
        return machine
    }

    /// Reads at most `count` bytes.
    private func read(
        _ machine: inout ChannelMachine, _ count: Int
    ) -> (ChannelMachine.Transfer, Data, [ChannelMachine.Effect]) {
        var bytes = [UInt8](repeating: 0, count: count)
        let (transfer, effects) = bytes.withUnsafeMutableBytes { machine.read(into: $0) }
        guard case .bytes(let length) = transfer else { return (transfer, Data(), effects) }
        return (transfer, Data(bytes.prefix(length)), effects)
    }

    private func write(
        _ machine: inout ChannelMachine, _ bytes: [UInt8]
    ) -> (ChannelMachine.Transfer, [ChannelMachine.Effect]) {
        bytes.withUnsafeBytes { machine.write($0) }
    }

    @Test func S150_unopenedStreamsMoveNothing() {
        var machine = ChannelMachine(credits: 10)
        #expect(machine.receive(Data([1])) == [])
        #expect(read(&machine, 1).0 == .failed)
        #expect(write(&machine, [1]).0 == .failed)
        #expect(machine.phase(of: .input) == .notOpen)
        #expect(!machine.owesNotice(.input))
        #expect(machine.open(.input) == [.notify(.input), .notify(.input)])
        #expect(machine.nextNotice(.input) == .opened)
        #expect(machine.nextNotice(.input) == .ready)
        #expect(read(&machine, 1).1 == Data([1]))
    }

    @Test func S152_theBordersOfPacketsAreLost() {
        var machine = opened()
        _ = machine.receive(Data([1, 2, 3]))
        _ = machine.receive(Data([4, 5]))
        #expect(read(&machine, 2).1 == Data([1, 2]))
        #expect(read(&machine, 10).1 == Data([3, 4, 5]))
        #expect(read(&machine, 10).0 == .wait)
    }

    @Test func S152_aWriteTakesWhatThereIsRoomFor() {
        var machine = opened(credits: 3)
        let (transfer, effects) = write(&machine, [1, 2, 3, 4, 5])
        #expect(transfer == .bytes(3))
        #expect(effects == [.submit(.send(Data([1, 2, 3])))])
        #expect(!machine.isReady(.output))
        #expect(write(&machine, [4, 5]).0 == .wait)
        #expect(machine.grant(1) == [.notify(.output)])
        #expect(machine.grant(1) == [])
        #expect(machine.nextNotice(.output) == .ready)
        #expect(machine.nextNotice(.output) == nil)
        #expect(write(&machine, [4, 5]).0 == .bytes(2))
    }

    @Test func roomThatIsLeftAfterAWriteIsReportedAgain() {
        var machine = opened(credits: 3)
        #expect(write(&machine, [1]).1 == [.submit(.send(Data([1]))), .notify(.output)])
        #expect(machine.nextNotice(.output) == .ready)
    }

    @Test func readBytesAreReportedWhenAllAreReadOrManyAre() {
        var machine = opened()
        _ = machine.receive(Data(count: 10_000))
        #expect(read(&machine, 4000).2 == [])
        #expect(read(&machine, 100).2.contains(.submit(.consumed(4100))))
        #expect(read(&machine, 10_000).2 == [.submit(.consumed(5900))])
    }

    @Test func S153_aRemoteCloseEndsTheInputAfterItsBytes() {
        var machine = opened()
        _ = machine.receive(Data([1, 2]))
        #expect(machine.endRemotely() == [.notify(.output)])
        #expect(machine.phase(of: .input) == .open)
        #expect(machine.phase(of: .output) == .atEnd)
        #expect(machine.nextNotice(.input) == .ready)
        #expect(read(&machine, 1).1 == Data([1]))
        #expect(machine.nextNotice(.input) == .ready)
        #expect(read(&machine, 1).1 == Data([2]))
        #expect(machine.phase(of: .input) == .atEnd)
        #expect(machine.nextNotice(.input) == .ended)
        #expect(machine.nextNotice(.input) == nil)
        #expect(read(&machine, 1).0 == .bytes(0))
        #expect(machine.endRemotely() == [])
    }

    @Test func S153_aWriteAfterTheEndFails() {
        var machine = opened()
        _ = machine.endRemotely()
        #expect(machine.nextNotice(.output) == .ended)
        #expect(write(&machine, [1]).0 == .failed)
        #expect(machine.phase(of: .output) == .failed)
        #expect(machine.nextNotice(.output) == .failed)
        #expect(write(&machine, [1]).0 == .failed)
        #expect(machine.nextNotice(.output) == nil)
    }

    @Test func aStreamThatIsOpenedAfterTheEndStillGivesItsBytes() {
        var machine = ChannelMachine(credits: 1)
        _ = machine.receive(Data([7]))
        _ = machine.endRemotely()
        _ = machine.open(.input)
        #expect(machine.nextNotice(.input) == .opened)
        #expect(machine.nextNotice(.input) == .ready)
        #expect(read(&machine, 5).1 == Data([7]))
        #expect(machine.nextNotice(.input) == .ended)
    }

    @Test func bytesThatWereReadMeanwhileAreNotAnnounced() {
        var machine = opened()
        _ = machine.receive(Data([1]))
        _ = read(&machine, 1)
        #expect(machine.nextNotice(.input) == nil)
    }

    @Test func closingBothStreamsClosesTheChannelOnce() {
        var machine = opened()
        #expect(machine.close(.input) == [])
        #expect(machine.receive(Data([1])) == [])
        #expect(machine.close(.output) == [.submit(.close)])
        #expect(machine.close(.output) == [])
        #expect(machine.release() == [])
        #expect(read(&machine, 1).0 == .failed)
        #expect(machine.open(.input) == [])
        #expect(machine.phase(of: .input) == .closed)
    }

    @Test func S151_releaseClosesTheChannelAndEndsTheStreams() {
        var machine = opened()
        _ = machine.receive(Data([1]))
        #expect(machine.release() == [.submit(.close), .notify(.input), .notify(.output)])
        #expect(read(&machine, 1).0 == .bytes(0))
        #expect(machine.release() == [])
    }

    @Test func aBackendThatCountsWronglyDoesNotTrap() {
        var machine = opened(credits: -5)
        #expect(write(&machine, [1]).0 == .wait)
        _ = machine.grant(-1)
        #expect(write(&machine, [1]).0 == .wait)
        _ = machine.grant(Int.max)
        _ = machine.grant(Int.max)
        #expect(write(&machine, [1]).0 == .bytes(1))
        #expect(machine.receive(Data()) == [])
    }

    @Test func emptyTransfersMoveNothingAndDoNotBlock() {
        var machine = opened(credits: 0)
        #expect(read(&machine, 0).0 == .bytes(0))
        #expect(write(&machine, []).0 == .bytes(0))
    }
}
