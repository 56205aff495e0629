#if Emulator
import BluetoothEmulator
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// An app that repeats a write which failed, and a device that may have performed it.
@Suite struct LostAnswerTests {
    /// Appends each record that is written to FFE1 to the value of FFE2.
    private struct Log: EmulatedPeripheralHandler {
        func makeState() -> Data { Data() }

        func respond(
            to request: PeripheralRequest, state: inout Data, device: inout DeviceActions
        ) -> PeripheralResponse {
            guard case .write(let record) = request.kind else { return .stored }
            state.append(record)
            device.setValue(state, of: "FFE2")
            return .stored
        }
    }

    private static let device = PeripheralDescription(
        name: "Log", advertising: [AdvertisingDescription(AdvertisingData(services: ["FFE0"]))],
        services: [
            ServiceDescription(
                "FFE0",
                characteristics: [
                    CharacteristicDescription("FFE1", .write), CharacteristicDescription("FFE2", .read),
                ])
        ])

    /// Lets an app write a record whose first write meets a fault, and write it again.
    ///
    /// - Returns: The outcome of the first write, as the app sees it, and the records of the device.
    private func recordsOfAnAppThatRetries(_ effect: DeviceFault.Effect) async throws -> ([String], Data?) {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(EmulatedPeripheral(Self.device, handler: Log()))
        let app = try await EmulatedApp(emulator)
        let peripheral = try await app.retrieve(device)
        var log = try #require(try await app.connect(peripheral).first)
        device.inject(DeviceFault(.write, effect, of: "FFE1"))
        let first = try await app.lines(within: 10) { peripheral.writeValue(Data([7]), for: log, type: .withResponse) }
        if peripheral.state == .disconnected { log = try #require(try await app.connect(peripheral).first) }
        let second = try await app.lines { peripheral.writeValue(Data([7]), for: log, type: .withResponse) }
        #expect(second == ["written"])
        return (first, device.value(of: "FFE2"))
    }

    @Test func aWriteThatTheDeviceRefusedIsRepeatedAndStoredOnce() async throws {
        let (outcome, records) = try await recordsOfAnAppThatRetries(.fail(0x80))
        #expect(outcome == ["written CBATTError 128"])
        #expect(records == Data([7]))
    }

    @Test func aWriteWhoseAnswerWasLostIsRepeatedAndStoredTwice() async throws {
        let (outcome, records) = try await recordsOfAnAppThatRetries(.loseAnswer)
        #expect(outcome == ["disconnected disconnected CBError \(CBError.connectionTimeout.rawValue)"])
        #expect(records == Data([7, 7]))
    }

    @Test func aLateAnswerToAWriteReachesTheAppThatWaits() async throws {
        let (outcome, records) = try await recordsOfAnAppThatRetries(.delayAnswer(.seconds(8)))
        #expect(outcome == ["written"])
        #expect(records == Data([7, 7]))
    }

    @Test func aMalformedValueReachesTheApp() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(Self.device)
        device.setValue(Data([1, 2, 3]), of: "FFE2")
        device.inject(DeviceFault(.read, .corrupt, of: "FFE2"))
        let app = try await EmulatedApp(emulator)
        let peripheral = try await app.retrieve(device)
        let log = try #require(try await app.connect(peripheral).last)
        let lines = try await app.lines { peripheral.readValue(for: log) }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("value [") == true && lines != ["value [1, 2, 3]"], "\(lines)")
        #expect(try await app.lines { peripheral.readValue(for: log) } == ["value [1, 2, 3]"])
    }
}
#endif
