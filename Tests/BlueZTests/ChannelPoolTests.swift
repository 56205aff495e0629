#if os(Linux)
import BluetoothBackend
import Foundation
import Glibc
import ScriptedBlueZ
import Testing

@testable import BlueZ

@Suite struct ChannelPoolTests {
    private let fixture = PoolFixture()

    // MARK: Opening

    @Test func aChannelOpensFromTheAdapterToThePeer() async throws {
        _ = try await fixture.open()
        let addresses = fixture.network.addresses.elements
        #expect(addresses.map(\.text) == ["00:11:22:33:44:55", "F0:F1:F2:F3:F4:F5"])
        #expect(addresses.map(\.psm) == [0, 0x90] && addresses.map(\.isRandom) == [false, true])
    }

    @Test func aRefusedChannelIsAnError() async throws {
        let error = BackendError(.operationNotSupported, operation: "open channel")
        fixture.network.fail(with: error)
        fixture.connect()
        #expect(try await fixture.reports.first { _ in true } == .failed(error))
    }

    // MARK: Bytes

    @Test func packetsBecomeBytesInOrder() async throws {
        let channel = try await fixture.open()
        for packet in [[1, 2, 3], [4], [5, 6]] as [[UInt8]] { #expect(PeerEnd.send(packet, to: fixture.network.peer)) }
        try await fixture.wait(received: 6)
        #expect(fixture.received == [1, 2, 3, 4, 5, 6])
        withExtendedLifetime(channel) {}
    }

    @Test func anEmptyPacketIsNotTheEnd() async throws {
        _ = try await fixture.open()
        #expect(PeerEnd.send([], to: fixture.network.peer))
        #expect(PeerEnd.send([7], to: fixture.network.peer))
        try await fixture.wait(received: 1)
        #expect(!fixture.reports.elements.contains { if case .event(_, .closed) = $0 { true } else { false } })
    }

    @Test func bytesAreSentInPacketsThatThePeerTakes() async throws {
        let channel = try await fixture.open()
        let bytes = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        fixture.perform(.command(.send(Data(bytes))), on: channel)
        try await fixture.wait(credits: 600)
        let packets = (0..<3).compactMap { _ in PeerEnd.receive(fixture.network.peer) }
        #expect(packets.map(\.count) == [245, 245, 110])
        #expect(packets.flatMap { $0 } == bytes)
    }

    @Test func creditsComeBackOnlyForWhatTheSocketTook() async throws {
        let channel = try await fixture.open()
        // Without a reader the socket fills up.
        for _ in 0..<4 { fixture.perform(.command(.send(Data(repeating: 9, count: 16384))), on: channel) }
        await fixture.settle()
        let granted = fixture.reports.elements.reduce(0) { sum, report in
            if case .event(_, .credits(let count)) = report { sum + count } else { sum }
        }
        // The kernel's buffer counts packets with their overhead, and holds less than the window.
        #expect(granted < 65536)
        let peer = fixture.network.peer
        let taken = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: PeerEnd.receive(peer, atLeast: 65536)) }
        }
        #expect(taken == 65536)
        try await fixture.wait(credits: 65536)
    }

    @Test func bytesWithoutCreditAreDropped() async throws {
        let channel = try await fixture.open()
        fixture.perform(.command(.send(Data(repeating: 1, count: ChannelSocket.sendWindow + 1))), on: channel)
        fixture.perform(.command(.send(Data([2]))), on: channel)
        try await fixture.wait(credits: 1)
        #expect(PeerEnd.receive(fixture.network.peer) == [2])
        #expect(PeerEnd.receive(fixture.network.peer) == nil)
    }

    @Test func nothingIsReadWhileTheWindowIsFull() async throws {
        let channel = try await fixture.open()
        let peer = fixture.network.peer
        let packet = [UInt8](repeating: 3, count: 8192)
        var sent = 0
        // More than the window and the socket's buffer, so the peer must wait.
        while sent < 16 * ChannelSocket.receiveWindow {
            if PeerEnd.send(packet, to: peer) {
                sent += packet.count
                continue
            }
            await fixture.settle()
            let received = fixture.received.count
            if received >= ChannelSocket.receiveWindow { break }
            try await fixture.wait(received: received + 1)
        }
        await fixture.settle()
        #expect(fixture.received.count == ChannelSocket.receiveWindow)
        #expect(sent > fixture.received.count)
        fixture.perform(.command(.consumed(ChannelSocket.receiveWindow)), on: channel)
        try await fixture.wait(received: min(sent, 2 * ChannelSocket.receiveWindow))
    }

    @Test func whatThePeerSentBeforeItHungUpIsReportedFirstAlsoWithAFullWindow() async throws {
        let channel = try await fixture.open()
        let packet = [UInt8](repeating: 4, count: 8192)
        var sent = 0
        while sent < ChannelSocket.receiveWindow + 4 * packet.count {
            if PeerEnd.send(packet, to: fixture.network.peer) { sent += packet.count } else { await fixture.settle() }
        }
        fixture.network.hangUp()
        try await fixture.wait(received: ChannelSocket.receiveWindow)
        fixture.perform(.command(.consumed(ChannelSocket.receiveWindow)), on: channel)
        try await fixture.reports.first { $0 == .event(channel, .closed) }
        #expect(fixture.received.count == sent)
    }

    // MARK: The end

    @Test func aPeerThatHangsUpClosesTheChannelOnce() async throws {
        let channel = try await fixture.open()
        fixture.network.hangUp()
        try await fixture.reports.first { $0 == .event(channel, .closed) }
        fixture.perform(.readRest, on: channel)
        fixture.perform(.command(.send(Data([1]))), on: channel)
        await fixture.settle()
        #expect(fixture.reports.elements.filter { $0 == .event(channel, .closed) }.count == 1)
    }

    @Test func closingSendsWhatWasGivenBefore() async throws {
        let channel = try await fixture.open()
        fixture.perform(.command(.send(Data([1, 2]))), on: channel)
        fixture.perform(.command(.close), on: channel)
        await fixture.settle()
        #expect(PeerEnd.receive(fixture.network.peer) == [1, 2])
        var state = pollfd(fd: fixture.network.peer, events: Int16(POLLIN), revents: 0)
        // The end, within the time limit, because Dispatch closes the descriptor later.
        #expect(poll(&state, 1, 10_000) == 1)
        #expect(PeerEnd.receive(fixture.network.peer) == [])
        // The closing side receives no event.
        #expect(!fixture.reports.elements.contains(.event(channel, .closed)))
    }

    @Test func theRestOfALostLinkIsReadWhateverTheWindow() async throws {
        let channel = try await fixture.open()
        #expect(PeerEnd.send([1, 2, 3], to: fixture.network.peer))
        fixture.perform(.readRest, on: channel)
        try await fixture.reports.first { $0 == .event(channel, .closed) }
        #expect(fixture.received == [1, 2, 3])
    }

    // MARK: Listening

    @Test func aPeersChannelIsReportedWithItsAddress() async throws {
        let peer = try #require(L2CAPAddress("C0:01:02:03:04:05", isRandom: true, psm: 0x80))
        let fixture = fixture
        let psm = try await fixture.listen()
        #expect(psm == 0x80 && fixture.network.requirements.elements == [true])
        try fixture.network.open(from: peer)
        let event = try await fixture.reports.first { if case .accepted = $0 { true } else { false } }
        guard case .accepted(let opening, peer) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(opening.credits == ChannelSocket.sendWindow)
        #expect(PeerEnd.send([8], to: fixture.network.peer))
        try await fixture.wait(received: 1)
        fixture.queue.async {
            #expect(fixture.pool.stopListening(psm))
            #expect(!fixture.pool.stopListening(psm))
        }
        // An open channel stays open.
        fixture.perform(.command(.send(Data([9]))), on: opening.channel)
        try await fixture.wait(credits: 1)
        #expect(PeerEnd.receive(fixture.network.peer) == [9])
    }

    @Test func aListenerWithoutADescriptorLooksAwayAndLetsTheQueueRest() async throws {
        var timings = ChannelPool.Timings()
        timings.acceptPause = .seconds(3600)
        timings.acceptPauseLimit = .seconds(3600)
        let fixture = PoolFixture(timings: timings)
        let peer = try #require(L2CAPAddress("C0:01:02:03:04:05", isRandom: true, psm: 0x80))
        let psm = try await fixture.listen()
        fixture.network.failAccepting(with: BackendError(.outOfSpace, operation: "accept channel"))
        try fixture.network.open(from: peer)
        // Twice the number of blocks that continuous accepting would take.
        while fixture.network.accepts == 0 { await fixture.settle() }
        for _ in 0..<1000 { await fixture.settle() }
        #expect(fixture.network.accepts == 1)
        fixture.queue.sync { _ = fixture.pool.stopListening(psm) }
    }

    @Test func aChannelThatCouldNotBeTakenIsTakenLater() async throws {
        var timings = ChannelPool.Timings()
        timings.acceptPause = .milliseconds(1)
        let fixture = PoolFixture(timings: timings)
        let peer = try #require(L2CAPAddress("C0:01:02:03:04:05", isRandom: true, psm: 0x80))
        _ = try await fixture.listen()
        fixture.network.failAccepting(with: BackendError(.outOfSpace, operation: "accept channel"))
        try fixture.network.open(from: peer)
        while fixture.network.accepts < 3 { await fixture.settle() }
        fixture.network.failAccepting(with: nil)
        try await fixture.reports.first { if case .accepted(_, peer) = $0 { true } else { false } }
    }

    @Test func aChannelThatIsNeverAnsweredTimesOut() async throws {
        var timings = ChannelPool.Timings()
        timings.connect = .milliseconds(1)
        let fixture = PoolFixture(timings: timings)
        fixture.network.neverConnect()
        fixture.connect()
        let report = try await fixture.reports.first { _ in true }
        #expect(report == .failed(BackendError(.connectionTimeout, operation: "open channel")))
    }

    // MARK: The kernel

    @Test func withoutTheSocketFamilyTheErrorSaysSo() throws {
        let error = BackendError.socket(EAFNOSUPPORT, "open channel 144")
        #expect(error.code == .operationNotSupported)
        #expect(error.message?.contains("container") == true)
        let local = try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false))
        guard !BluetoothSockets().isAvailable else { return }
        #expect {
            try BluetoothSockets().listen(at: local, isEncryptionRequired: false)
        } throws: { thrown in
            (thrown as? BackendError)?.code == .operationNotSupported
        }
    }

    @Test func aRefusalAfterACallForSecurityIsOneOfAuthentication() {
        #expect(BackendError.socket(ECONNREFUSED, "", isSecurityMissing: true).attCode == 0x05)
        #expect(BackendError.socket(ECONNREFUSED, "").code == .operationNotSupported)
        #expect(BackendError.socket(ETIMEDOUT, "").code == .connectionTimeout)
        #expect(BackendError.socket(ECONNRESET, "").code == .notConnected)
    }
}
#endif
