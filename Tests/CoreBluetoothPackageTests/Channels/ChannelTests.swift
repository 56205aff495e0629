import BluetoothBackend
import BluetoothLocking
import Dispatch
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothPackage

/// Channels of a central manager, over a radio played by hand.
@Suite struct ChannelTests {
    private let id = ChannelID(rawValue: 5)

    /// Keeps the channel that it is given.
    private final class Keeper: NSObject, CBPeripheralDelegate, Sendable {
        // Invariant: reached under this lock.
        private let kept = Lock(Unchecked<CBL2CAPChannel?>(nil))
        private let onOpen: @Sendable (CBL2CAPChannel) -> Void

        init(_ onOpen: @escaping @Sendable (CBL2CAPChannel) -> Void = { _ in }) { self.onOpen = onOpen }

        var channel: CBL2CAPChannel? { kept.withLock { $0 }.value }

        func letGo() {
            let old = kept.withLock { kept in
                defer { kept = Unchecked(nil) }
                return kept
            }
            _ = old
        }

        func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
            let channel = Unchecked(channel)
            kept.withLock { $0 = channel }
            if let channel = channel.value { onOpen(channel) }
        }
    }

    private func open(
        _ stage: FacadeStage, _ peripheral: CBPeripheral, credits: Int = 10, _ more: CentralEvent...
    ) async {
        peripheral.openL2CAPChannel(0x81)
        guard let operation = stage.central.lastOperation else { return }
        stage.central.send(
            .channelOpened(link: stage.link, operation: operation, channel: id, credits: credits))
        for event in more { stage.central.send(event) }
        await stage.central.settle()
    }

    /// Proves S148, S149.
    @Test func S148_S149_didOpenCarriesThePeripheralAndThePSM() async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        peripheral.openL2CAPChannel(0x81)
        let operation = try #require(stage.central.lastOperation)
        #expect(
            stage.central.commands.last == .openChannel(link: stage.link, operation: operation, psm: 0x81))
        await stage.central.play(
            .channelOpened(link: stage.link, operation: operation, channel: id, credits: 10))
        let channel = try #require(keeper.channel)
        #expect(channel.peer === peripheral)
        #expect(channel.psm == 0x81)
        #expect(channel.inputStream.streamStatus == .notOpen)
        #expect(channel.outputStream.streamStatus == .notOpen)
    }

    @Test(arguments: [true, false])
    func aChannelKnowsThatItEndedWithItsLinkBeforeTheQueueHearsOfIt(isLink: Bool) async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        await open(stage, peripheral)
        let channel = try #require(keeper.channel)
        channel.inputStream.open()
        stage.queue.suspend()
        stage.central.send(
            isLink
                ? .disconnected(link: stage.link, reason: .remote, at: Date(), isReconnecting: false)
                : .channelClosed(channel: id))
        #expect(channel.inputStream.streamStatus == .atEnd)
        #expect(channel.hasLostLink == isLink)
        #expect(peripheral.state == .connected)
        stage.queue.resume()
        await stage.central.settle()
    }

    /// Proves S148.
    @Test(arguments: [0, 0x100, 0x2349] as [CBL2CAPPSM])
    func S148_anImpossiblePSMIsAnInvalidParameter(psm: CBL2CAPPSM) async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let count = stage.central.commands.count
        peripheral.openL2CAPChannel(psm)
        await stage.central.settle()
        #expect(stage.central.commands.count == count)
        #expect(stage.recorder.lines.last == "channel none CBError 1")
    }

    /// Proves S148.
    @Test func S148_aRefusedPSMIsAnError() async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        peripheral.openL2CAPChannel(0x81)
        await stage.central.play(
            .operationFailed(
                link: stage.link, operation: try #require(stage.central.lastOperation),
                error: BackendError(.connectionFailed, operation: "openChannel")))
        #expect(stage.recorder.lines.last == "channel none CBError 10")
    }

    /// Proves S148.
    @Test func S148_withoutAConnectionItIsLoggedAndIgnored() async {
        LogCapture.start()
        let stage = FacadeStage()
        let peripheral = await stage.discover()
        peripheral.openL2CAPChannel(0x81)
        await stage.central.settle()
        #expect(!stage.recorder.lines.contains { $0.hasPrefix("channel") })
        let lines = LogCapture.lines(containing: "can only accept commands while in the connected state")
        #expect(lines.contains { $0.contains(peripheral.identifier.uuidString) })
    }

    @Test func bytesGoBothWays() async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        await open(stage, peripheral, credits: 2, .channelReceived(channel: id, data: Data([1, 2, 3])))
        let channel = try #require(keeper.channel)
        channel.inputStream.open()
        channel.outputStream.open()
        #expect(channel.inputStream.hasBytesAvailable)
        #expect(channel.inputStream.bytes(10) == Data([1, 2, 3]))
        #expect(stage.central.commands.last == .channelConsumed(channel: id, bytes: 3))
        #expect(channel.outputStream.write(Data([4, 5, 6])) == 2)
        #expect(stage.central.commands.last == .sendOnChannel(channel: id, data: Data([4, 5])))
        #expect(!channel.outputStream.hasSpaceAvailable)
        stage.central.send(.channelCredits(channel: id, count: 1))
        #expect(channel.outputStream.hasSpaceAvailable)
    }

    /// The bytes come while the manager's queue is in the callback.
    @Test func aBlockingReadWithinDidOpenDoesNotDeadlock() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let isReading = DispatchSemaphore(value: 0)
        let read = Lock(Data())
        let keeper = Keeper { channel in
            channel.inputStream.open()
            isReading.signal()
            let bytes = channel.inputStream.bytes(10)
            read.withLock { $0 = bytes ?? Data() }
        }
        peripheral.delegate = keeper
        peripheral.openL2CAPChannel(0x81)
        let central = stage.central
        central.send(
            .channelOpened(link: stage.link, operation: central.lastOperation!, channel: id, credits: 1))
        let id = id
        await onThread {
            isReading.wait()
            central.send(.channelReceived(channel: id, data: Data([8, 9])))
        }
        await central.settle()
        #expect(read.withLock { $0 } == Data([8, 9]))
    }

    /// Proves S153.
    @Test(arguments: [true, false])
    func S153_aBlockedReadEndsWithItsLinkOrItsPower(isLink: Bool) async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let isReading = DispatchSemaphore(value: 0)
        let result = Lock<Data?>(nil)
        let keeper = Keeper { channel in
            channel.inputStream.open()
            isReading.signal()
            let bytes = channel.inputStream.bytes(10)
            result.withLock { $0 = bytes }
        }
        peripheral.delegate = keeper
        peripheral.openL2CAPChannel(0x81)
        let (central, link) = (stage.central, stage.link)
        central.send(.channelOpened(link: link, operation: central.lastOperation!, channel: id, credits: 1))
        await onThread {
            isReading.wait()
            central.send(
                isLink
                    ? .disconnected(link: link, reason: .remote, at: Date(), isReconnecting: false)
                    : .stateChanged(.poweredOff))
        }
        await central.settle()
        #expect(result.withLock { $0 } == Data())
        #expect(keeper.channel?.inputStream.streamStatus == .atEnd)
    }

    /// Proves S151.
    @Test func S151_releaseClosesTheChannel() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        await open(stage, peripheral)
        #expect(keeper.channel != nil)
        #expect(!stage.central.commands.contains(.closeChannel(channel: id)))
        keeper.letGo()
        #expect(stage.central.commands.last == .closeChannel(channel: id))
        #expect(stage.manager?.core.channels[id] == nil)
    }

    /// Proves S153.
    @Test func S153_aRemoteCloseShowsInTheStreamsAlone() async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        await open(
            stage, peripheral, .channelReceived(channel: id, data: Data([1])), .channelClosed(channel: id))
        let channel = try #require(keeper.channel)
        let lines = stage.recorder.lines
        channel.inputStream.open()
        #expect(channel.inputStream.bytes(5) == Data([1]))
        #expect(channel.inputStream.bytes(5) == Data())
        keeper.letGo()
        await stage.central.settle()
        #expect(!stage.central.commands.contains(.closeChannel(channel: id)))
        #expect(stage.recorder.lines == lines)
    }

    @Test func aChannelThatNobodyWaitsForIsClosedAgain() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let operation = OperationID(rawValue: 999)
        await stage.central.play(
            .channelOpened(link: stage.link, operation: operation, channel: id, credits: 1))
        #expect(stage.central.commands.last == .closeChannel(channel: id))
        #expect(stage.manager?.core.channels[id] == nil)
        #expect(peripheral.state == .connected)
    }

    @Test func manyChannelsAreKeptApart() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        var keepers: [Keeper] = []
        for number in 1...50 {
            let keeper = Keeper { $0.inputStream.open() }
            peripheral.delegate = keeper
            peripheral.openL2CAPChannel(0x81)
            let channel = ChannelID(rawValue: UInt64(number))
            await stage.central.play(
                .channelOpened(
                    link: stage.link, operation: stage.central.lastOperation!, channel: channel, credits: 1))
            keepers.append(keeper)
        }
        for number in (1...50).reversed() {
            stage.central.send(
                .channelReceived(channel: ChannelID(rawValue: UInt64(number)), data: Data([UInt8(number)])))
        }
        #expect(keepers.map { $0.channel?.inputStream.bytes(9) } == (1...50).map { Data([UInt8($0)]) })
    }

    @Test func theStreamsEndWithTheManager() async throws {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let keeper = Keeper()
        peripheral.delegate = keeper
        await open(stage, peripheral)
        let channel = try #require(keeper.channel)
        channel.inputStream.open()
        stage.manager = nil
        #expect(channel.inputStream.streamStatus == .atEnd)
    }
}
