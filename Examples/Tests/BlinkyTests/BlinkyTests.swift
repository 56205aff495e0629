#if os(Linux)
import Blinky
import CoreBluetooth
import CoreBluetoothTesting
import EmulatedBlinky
import Testing

/// Tests of the app with the emulated board, each in a separate world and in virtual time, in which a minute takes no
/// real time.
@MainActor
@Suite(.emulator(.instant)) struct BlinkyTests {
    private let emulator = Emulator.current
    private let board: EmulatedDevice
    private let app: BlinkyApp

    init() throws {
        board = try emulator.add(EmulatedBlinky.board())
        app = BlinkyApp()
    }

    @Test func theAppFindsTheBoardAndIsReady() async {
        #expect(app.phase == .waiting)
        await emulator.expect(.didConnect, .didDiscoverCharacteristics, .didUpdateNotificationState)
        #expect(app.phase == .ready)
        #expect(board.connectionCount == 1)
    }

    @Test func theLEDFollowsTheApp() async {
        await emulator.expect(.didDiscoverCharacteristics)
        app.setLED(true)
        #expect(!app.isLEDOn)
        await emulator.expect(.didWriteValue.succeeding)
        #expect(app.isLEDOn)
        #expect(board.value(of: EmulatedBlinky.led) == Data([1]))
    }

    @Test func theAppFollowsTheButton() async {
        await emulator.expect(.didUpdateNotificationState)
        board.notify(EmulatedBlinky.button, value: Data([1]))
        await emulator.expect(.didUpdateValue)
        #expect(app.isButtonPressed)
        board.notify(EmulatedBlinky.button, value: Data([0]))
        await emulator.expect(.didUpdateValue)
        #expect(!app.isButtonPressed)
    }

    @Test func theAppReconnectsWhenTheBoardComesBack() async {
        await emulator.expect(.didDiscoverCharacteristics)
        board.setProximity(.outOfRange)
        await emulator.expect(.didDisconnectPeripheral.failing)
        #expect(app.phase == .connecting)
        board.setProximity(.near)
        await emulator.expect(.didUpdateNotificationState)
        #expect(app.phase == .ready)
    }

    @Test func aBoardOutOfRangeIsNotFound() async {
        board.setProximity(.outOfRange)
        await emulator.expectNone(of: .didDiscover, for: .seconds(600))
        #expect(app.phase == .searching)
    }
}
#endif
