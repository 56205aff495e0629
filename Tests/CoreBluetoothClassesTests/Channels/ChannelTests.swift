import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// Channels of a central manager, over a scripted backend.
@Suite struct ChannelTests {
    private let id = ChannelID(rawValue: 5)

    /// Records the channel that it receives.
    private final class ChannelRecorder: NSObject, CBPeripheralDelegate, Sendable {
        // Invariant: accessed under this lock.
        private let recorded = LockedState<CBL2CAPChannel?>(nil)
        private let onOpen: @Sendable (CBL2CAPChannel) -> Void

        init(_ onOpen: @escaping @Sendable (CBL2CAPChannel) -> Void = { _ in }) { self.onOpen = onOpen }

        var channel: CBL2CAPChannel? { recorded.withLock { $0 } }

        func release() { _ = recorded.withLock { $0.take() } }

        func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
            recorded.withLock { $0 = channel }
            if let channel { onOpen(channel) }
        }
    }

    private func open(
        _ fixture: FacadeFixture, _ peripheral: CBPeripheral, credits: Int = 10, _ more: CentralEvent...
    ) async {
        peripheral.openL2CAPChannel(0x81)
        guard let operation = fixture.central.lastOperation else { return }
        fixture.central.send(
            .response(link: fixture.link, operation: operation, .channel(id, credits: credits)))
        for event in more { fixture.central.send(event) }
        await fixture.central.settle()
    }

    @Test func S148_S149_didOpenCarriesThePeripheralAndThePSM() async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        peripheral.openL2CAPChannel(0x81)
        let operation = try #require(fixture.central.lastOperation)
        #expect(
            fixture.central.commands.last == .request(link: fixture.link, operation: operation, .openChannel(psm: 0x81))
        )
        await fixture.central.play(
            .response(link: fixture.link, operation: operation, .channel(id, credits: 10)))
        let channel = try #require(recorder.channel)
        #expect(channel.peer === peripheral)
        #expect(channel.psm == 0x81)
        #expect(channel.inputStream.streamStatus == .notOpen)
        #expect(channel.outputStream.streamStatus == .notOpen)
    }

    @Test(arguments: [true, false])
    func aChannelKnowsThatItEndedWithItsLinkBeforeTheQueueHearsOfIt(isLink: Bool) async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        await open(fixture, peripheral)
        let channel = try #require(recorder.channel)
        channel.inputStream.open()
        fixture.queue.suspendWhenIdle()
        fixture.central.send(
            isLink
                ? .disconnected(link: fixture.link, reason: .remote, at: Date(), isReconnecting: false)
                : .channel(id, .closed))
        #expect(channel.inputStream.streamStatus == .atEnd)
        #expect(channel.hasLostLink == isLink)
        #expect(peripheral.state == .connected)
        fixture.queue.resume()
        await fixture.central.settle()
    }

    @Test(arguments: [0, 0x100, 0x2349] as [CBL2CAPPSM])
    func S148_anImpossiblePSMIsAnInvalidParameter(psm: CBL2CAPPSM) async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let count = fixture.central.commands.count
        peripheral.openL2CAPChannel(psm)
        await fixture.central.settle()
        #expect(fixture.central.commands.count == count)
        #expect(fixture.recorder.lines.last == "channel none CBError 1")
    }

    @Test func S148_aRefusedPSMIsAnError() async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        peripheral.openL2CAPChannel(0x81)
        await fixture.central.play(
            .response(
                link: fixture.link, operation: try #require(fixture.central.lastOperation),
                .failure(BackendError(.connectionFailed, operation: "openChannel"))))
        #expect(fixture.recorder.lines.last == "channel none CBError 10")
    }

    @Test func S148_withoutAConnectionItIsLoggedAndIgnored() async {
        LogCapture.start()
        let fixture = FacadeFixture()
        let peripheral = await fixture.discover()
        peripheral.openL2CAPChannel(0x81)
        await fixture.central.settle()
        #expect(!fixture.recorder.lines.contains { $0.hasPrefix("channel") })
        let lines = LogCapture.lines(containing: "can only accept commands while in the connected state")
        #expect(lines.contains { $0.contains(peripheral.identifier.uuidString) })
    }

    @Test func bytesGoBothWays() async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        await open(fixture, peripheral, credits: 2, .channel(id, .received(Data([1, 2, 3]))))
        let channel = try #require(recorder.channel)
        channel.inputStream.open()
        channel.outputStream.open()
        #expect(channel.inputStream.hasBytesAvailable)
        #expect(channel.inputStream.bytes(10) == Data([1, 2, 3]))
        #expect(fixture.central.commands.last == .channel(id, .consumed(3)))
        #expect(channel.outputStream.write(Data([4, 5, 6])) == 2)
        #expect(fixture.central.commands.last == .channel(id, .send(Data([4, 5]))))
        #expect(!channel.outputStream.hasSpaceAvailable)
        fixture.central.send(.channel(id, .credits(1)))
        #expect(channel.outputStream.hasSpaceAvailable)
    }

    /// The bytes arrive while the manager's queue is in the callback.
    @Test func aBlockingReadWithinDidOpenDoesNotDeadlock() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let isReading = DispatchSemaphore(value: 0)
        let read = Lock(Data())
        let recorder = ChannelRecorder { channel in
            channel.inputStream.open()
            isReading.signal()
            let bytes = channel.inputStream.bytes(10)
            read.withLock { $0 = bytes ?? Data() }
        }
        peripheral.delegate = recorder
        peripheral.openL2CAPChannel(0x81)
        let central = fixture.central
        central.send(
            .response(link: fixture.link, operation: central.lastOperation!, .channel(id, credits: 1)))
        let id = id
        await onThread {
            isReading.wait()
            central.send(.channel(id, .received(Data([8, 9]))))
        }
        await central.settle()
        #expect(read.withLock { $0 } == Data([8, 9]))
    }

    @Test(arguments: [true, false])
    func S153_aBlockedReadEndsWithItsLinkOrItsPower(isLink: Bool) async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let isReading = DispatchSemaphore(value: 0)
        let result = Lock<Data?>(nil)
        let recorder = ChannelRecorder { channel in
            channel.inputStream.open()
            isReading.signal()
            let bytes = channel.inputStream.bytes(10)
            result.withLock { $0 = bytes }
        }
        peripheral.delegate = recorder
        peripheral.openL2CAPChannel(0x81)
        let (central, link) = (fixture.central, fixture.link)
        central.send(.response(link: link, operation: central.lastOperation!, .channel(id, credits: 1)))
        await onThread {
            isReading.wait()
            central.send(
                isLink
                    ? .disconnected(link: link, reason: .remote, at: Date(), isReconnecting: false)
                    : .stateChanged(.poweredOff))
        }
        await central.settle()
        #expect(result.withLock { $0 } == Data())
        #expect(recorder.channel?.inputStream.streamStatus == .atEnd)
    }

    @Test func S151_releaseClosesTheChannel() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        await open(fixture, peripheral)
        #expect(recorder.channel != nil)
        #expect(!fixture.central.commands.contains(.channel(id, .close)))
        recorder.release()
        #expect(fixture.central.commands.last == .channel(id, .close))
        #expect(fixture.manager?.core.channels[id] == nil)
    }

    @Test func S153_aRemoteCloseShowsInTheStreamsAlone() async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        await open(
            fixture, peripheral, .channel(id, .received(Data([1]))), .channel(id, .closed))
        let channel = try #require(recorder.channel)
        let lines = fixture.recorder.lines
        channel.inputStream.open()
        #expect(channel.inputStream.bytes(5) == Data([1]))
        #expect(channel.inputStream.bytes(5) == Data())
        recorder.release()
        await fixture.central.settle()
        #expect(!fixture.central.commands.contains(.channel(id, .close)))
        #expect(fixture.recorder.lines == lines)
    }

    @Test func aChannelThatNobodyWaitsForIsClosedAgain() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let operation = OperationID(rawValue: 999)
        await fixture.central.play(
            .response(link: fixture.link, operation: operation, .channel(id, credits: 1)))
        #expect(fixture.central.commands.last == .channel(id, .close))
        #expect(fixture.manager?.core.channels[id] == nil)
        #expect(peripheral.state == .connected)
    }

    @Test func manyChannelsAreKeptApart() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        var recorders: [ChannelRecorder] = []
        for number in 1...50 {
            let recorder = ChannelRecorder { $0.inputStream.open() }
            peripheral.delegate = recorder
            peripheral.openL2CAPChannel(0x81)
            let channel = ChannelID(rawValue: UInt64(number))
            await fixture.central.play(
                .response(link: fixture.link, operation: fixture.central.lastOperation!, .channel(channel, credits: 1)))
            recorders.append(recorder)
        }
        for number in (1...50).reversed() {
            fixture.central.send(
                .channel(ChannelID(rawValue: UInt64(number)), .received(Data([UInt8(number)]))))
        }
        #expect(recorders.map { $0.channel?.inputStream.bytes(9) } == (1...50).map { Data([UInt8($0)]) })
    }

    @Test func theStreamsEndWithTheManager() async throws {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let recorder = ChannelRecorder()
        peripheral.delegate = recorder
        await open(fixture, peripheral)
        let channel = try #require(recorder.channel)
        channel.inputStream.open()
        fixture.manager = nil
        #expect(channel.inputStream.streamStatus == .atEnd)
    }
}
