import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

/// The durations of steps without additional delays in the settings.
@Suite(.emulator(.instant)) struct TimingTests {
    private let emulator = Emulator.current

    @Test func `A cancellation takes a connection interval`() async throws {
        let spec = Sensor().spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.advance(by: .milliseconds(19))
        #expect(client.take() == [])
        try await emulator.advance(by: .milliseconds(1))
        #expect(client.take() == ["disconnected"])
    }

    @Test func `A manager that connects only is cancelled at once`() async throws {
        let spec = Sensor().spec(proximity: .outOfRange)
        let client = try await Client.on(spec)
        spec.simulateCaching()
        try await emulator.advance(by: .milliseconds(1))
        let peripheral = try #require(client.manager.retrievePeripherals(withIdentifiers: [spec.identifier]).first)
        client.manager.connect(peripheral)
        try await emulator.advance(by: .milliseconds(1))
        #expect(peripheral.state == .connecting)
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.advance(by: .milliseconds(1))
        #expect(peripheral.state == .disconnected)
    }
}
