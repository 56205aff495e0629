#if Emulator
import BluetoothBackend
import BluetoothEmulator
import CoreBluetoothClasses
import Testing

@testable import bluectl

/// The events of the monitor, in virtual time.
@MainActor
@Suite struct MonitorTests {
    private let emulator = Emulator(time: .virtual)
    private let device: EmulatedDevice

    init() throws {
        device = try emulator.add(EmulatedPeripheral(.blinky))
    }

    @Test func connectionsOfOtherProgramsAndStatesOfTheAdapterAreReported() async throws {
        var events: [String] = []
        let monitor = Monitor(.emulator(emulator), services: [], allowsDuplicates: false) {
            events.append($0.state ?? $0.event)
        }
        try await emulator.advance(by: .seconds(2))
        #expect(events.first == "poweredOn")
        #expect(Set(events.dropFirst()) == ["discovered"])
        events = []
        for _ in 0..<2 {
            emulator.host.connectOtherApp(to: device)
            try await emulator.advance(by: .seconds(2))
            emulator.host.disconnectOtherApp(from: device)
            try await emulator.advance(by: .seconds(1))
            emulator.host.setPower(false)
            try await emulator.advance(by: .seconds(1))
            emulator.host.setPower(true)
            try await emulator.advance(by: .seconds(1))
        }
        let once = ["connected", "disconnected", "poweredOff", "poweredOn"]
        #expect(events.filter { $0 != "discovered" } == once + once)
        monitor.stop()
        events = []
        emulator.host.connectOtherApp(to: device)
        try await emulator.advance(by: .seconds(2))
        #expect(events.isEmpty)
    }

    @Test func devicesThatAreConnectedAlreadyAreReportedAtOnce() async throws {
        emulator.host.connectOtherApp(to: device)
        try await emulator.advance(by: .seconds(2))
        var events: [String] = []
        let services: [BluetoothUUID] = ["00001523-1212-EFDE-1523-785FEABCD123"]
        let monitor = Monitor(.emulator(emulator), services: services, allowsDuplicates: false) {
            events.append($0.state ?? $0.event)
        }
        try await emulator.advance(by: .seconds(1))
        #expect(events.prefix(2) == ["poweredOn", "connected"])
        monitor.stop()
    }
}
#endif
