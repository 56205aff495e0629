import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// A device that causes each kind of line in a recording: values that change, errors, notifications with and without a
/// cause, and an end by the device.
struct Lamp: EmulatedPeripheralHandler {
    struct State: Sendable {
        var reads: UInt8 = 0
        var beats: UInt8 = 0
    }

    static let description = PeripheralDescription(
        name: "Lamp",
        advertising: [.init(.init(localName: "Lamp", services: ["FFF0"], manufacturerData: Data([0x4C, 0, 1])))],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    .init("FFF1", [.read]), .init("FFF2", [.write, .writeWithoutResponse]), .init("FFF3", [.notify]),
                    .init("FFF4", [.indicate], descriptors: [.init("2901", value: Data("beat".utf8))]),
                ]),
            ServiceDescription("180A", characteristics: [.init("2A25", [.read], value: Data("SN-77".utf8))]),
        ])

    func makeState() -> State { State() }

    func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        switch (request.characteristic, request.kind) {
        case ("FFF1", .read):
            state.reads += 1
            return .value(Data([state.reads]))
        case ("FFF2", .write(Data([0xFF]))): return .error(0x80)
        case ("FFF2", .write), ("FFF2", .writeCommand):
            device.startTimer(1, after: .milliseconds(200))
            return .accepted
        default: return .stored
        }
    }

    func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        switch event {
        case .connected: device.startTimer(3, after: .seconds(20))
        case .disconnected: device.stopTimer(2)
        case .subscribed(_, _, characteristic: "FFF4"): device.startTimer(2, after: .seconds(1), every: .seconds(1))
        case .unsubscribed(_, _, characteristic: "FFF4"): device.stopTimer(2)
        case .timer(1): device.notify("FFF3", value: Data([0x0A]))
        case .timer(2):
            state.beats += 1
            device.notify("FFF4", value: Data([state.beats]))
        case .timer(3): device.disconnect()
        default: break
        }
    }

    /// Uses the device until it disconnects.
    static func use(_ peripheral: Peripheral, _ emulator: Emulator) async throws {
        try await peripheral.connect()
        for service in try await peripheral.services() {
            for characteristic in try await peripheral.characteristics(of: service) {
                for descriptor in try await peripheral.descriptors(of: characteristic.id)
                where descriptor.uuid.uuidString != "2902" {
                    _ = try await peripheral.read(descriptor: descriptor)
                }
            }
        }
        let values = try await peripheral.subscribe(to: ["FFF0/FFF3", "FFF0/FFF4"])
        for _ in 0..<3 { _ = try await peripheral.read("FFF0/FFF1") }
        _ = try await peripheral.read("180A/2A25")
        try await peripheral.write(Data([5]), to: "FFF0/FFF2")
        _ = await outcome { try await peripheral.write(Data([0xFF]), to: "FFF0/FFF2") }
        try await emulator.swiftClock.sleep(for: .seconds(2))
        try await peripheral.writeWithoutResponse(Data([6]), to: "FFF0/FFF2")
        _ = try await peripheral.waitUntilDisconnected()
        withExtendedLifetime(values) {}
    }

    static func first(_ central: Central) async throws -> Peripheral {
        for try await found in central.scan() { return found.peripheral }
        throw CancellationError()
    }

    /// Returns the error of an operation as text.
    static func outcome(_ body: () async throws -> Void) async -> String {
        await outcome {
            try await body()
            return "done"
        }
    }

    /// Returns the result of an operation, or its error, as text.
    static func outcome(_ body: () async throws -> String) async -> String {
        do {
            return try await body()
        } catch let error as BluetoothError {
            if case .refused(let cause) = error.reason { return "ATT \((cause as NSError).code)" }
            return "\(error.reason)"
        } catch {
            return "\(error)"
        }
    }
}
