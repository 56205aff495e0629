import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth
import Testing

extension AsyncScenario {
    static let profiles = [
        AsyncScenario("a battery's level is read, and its changes are notified") { c in
            let battery = BatteryClient(try await c.find())
            #expect(try await c.run { try await battery.level() } == .full)
            let levels = try await c.run { try await battery.peripheral.subscribe(to: BatteryService.level.id) }
            try await c.perform(.notify(.batteryLevel, [0x55]))
            let level = try await c.run { try await levels.first(1).first.map { try BatteryLevel(decoding: $0) } }
            #expect(try level == BatteryLevel(percent: 85))
        },
        AsyncScenario("a malformed value names operation, peer, path and field") { c in
            let battery = BatteryClient(try await c.find())
            try await c.perform(.setValue(.batteryLevel, [200]))
            let error = try await c.failure { try await battery.level() }
            #expect(error.operation == .read)
            #expect(error.peer == battery.peripheral.identifier)
            #expect(error.path == "180F/2A19")
            #expect(error.valueError?.problem == .reserved(200))
        },
        AsyncScenario("a heart rate monitor notifies measurements") { c in
            try await c.perform(.advertise(.heart, true))
            let heart = HeartRateClient(try await c.find(.heart))
            let beats = try await c.run { try await heart.measurements.first(3) }
            #expect(beats.count == 3)
            #expect(beats.allSatisfy { (60...90).contains($0.rate) && $0.energyExpended == nil })
        },
        AsyncScenario("an optional characteristic that is missing is nil") { c in
            try await c.perform(.advertise(.heart, true))
            let heart = HeartRateClient(try await c.find(.heart))
            #expect(try await c.run { try await heart.bodySensorLocation() } == nil)
        },
    ]
}
