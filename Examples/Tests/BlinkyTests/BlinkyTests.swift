import Blinky
import BluetoothEmulator
import CoreBluetooth
import EmulatedBlinky
import Testing

/// The app against the emulated board, each test in a world of its own, on virtual time: a minute takes no time, and
/// nothing here waits for a clock.
@MainActor
@Suite struct BlinkyTests {
    private let emulator = Emulator(time: .virtual)
    private let board: EmulatedDevice
    private let app: BlinkyApp

    init() throws {
        board = try emulator.add(EmulatedBlinky.board())
        app = CBManager.withBackend(.emulator(emulator)) { BlinkyApp() }
    }

    @Test func theAppFindsTheBoardAndIsReady() async throws {
        #expect(app.phase == .waiting)
        try await emulator.advance(by: .seconds(3))
        #expect(app.phase == .ready)
        #expect(board.connectionCount == 1)
    }

    @Test func theLEDFollowsTheApp() async throws {
        try await emulator.advance(by: .seconds(3))
        app.setLED(true)
        #expect(!app.isLEDOn)
        try await emulator.advance(by: .seconds(1))
        #expect(app.isLEDOn)
        #expect(board.value(of: EmulatedBlinky.led) == Data([1]))
    }

    @Test func theAppFollowsTheButton() async throws {
        try await emulator.advance(by: .seconds(3))
        board.notify(EmulatedBlinky.button, value: Data([1]))
        try await emulator.advance(by: .seconds(1))
        #expect(app.isButtonPressed)
        board.notify(EmulatedBlinky.button, value: Data([0]))
        try await emulator.advance(by: .seconds(1))
        #expect(!app.isButtonPressed)
    }

    @Test func theAppReconnectsWhenTheBoardComesBack() async throws {
        try await emulator.advance(by: .seconds(3))
        board.setProximity(.outOfRange)
        try await emulator.advance(by: .seconds(60))
        #expect(app.phase == .connecting)
        board.setProximity(.near)
        try await emulator.advance(by: .seconds(3))
        #expect(app.phase == .ready)
    }

    @Test func aBoardOutOfRangeIsNotFound() async throws {
        board.setProximity(.outOfRange)
        try await emulator.advance(by: .seconds(600))
        #expect(app.phase == .searching)
    }
}
