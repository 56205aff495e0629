import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// The clients and servers of profiles under radio histories: each call returns or throws a `BluetoothError`, values come
/// in order, and a device is available again when all is over.
@Suite struct ProfileHistoriesTests {
    private static let settings = Central.Settings(connectTimeout: .seconds(30))

    private static let heart = WorldDescription(devices: [BuiltInHandler.heartRate.device])
    private static let wheel = WorldDescription(devices: [BuiltInHandler.cycling.device])
    private static let thermometer = WorldDescription(devices: [BuiltInHandler.healthThermometer.device])
    private static let others = WorldDescription(devices: [
        BuiltInHandler.currentTime.device, BuiltInHandler.deviceInformation.device,
    ])
    private static let line = WorldDescription(devices: [BuiltInHandler.nordicUART.device])

    /// Calls a client's operations three times, each with a timeout.
    private static func use(
        _ service: CBUUID, _ operations: @escaping @Sendable (Peripheral) -> [@Sendable () async throws -> Void]
    ) async throws {
        let emulator = Emulator.current
        try await emulator.run(within: .seconds(20_000)) {
            let central = Central(settings: settings)
            for _ in 0..<3 {
                let device = try await find(service, central)
                for operation in operations(device) {
                    do {
                        try await withTimeout(.seconds(200), operation)
                    } catch is BluetoothError {}
                }
                await device.disconnect()
            }
        }
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }

    private static func find(_ service: CBUUID, _ central: Central) async throws -> Peripheral {
        while true {
            do {
                return try await central.first(for: [service], within: .seconds(30)).peripheral
            } catch is BluetoothError { try await Task.sleep(for: .seconds(1)) }
        }
    }

    private static func receive<Sequence: AsyncSequence & Sendable>(
        _ count: Int, of values: Sequence
    ) async throws where Sequence.Element: Sendable {
        var received = 0
        for try await _ in values {
            received += 1
            if received == count { return }
        }
        Issue.record("the values ended without an error")
    }

    @Test(.emulator(.histories(30, .all), world: heart)) func aHeartRateClientReturns() async throws {
        try await Self.use(HeartRateService.uuid) { device in
            let client = HeartRateClient(device)
            return [
                { _ = try await client.bodySensorLocation() }, { try await Self.receive(5, of: client.measurements) },
                { try await client.resetEnergyExpended() }, { _ = try await BatteryClient(device).level() },
            ]
        }
    }

    @Test(.emulator(.histories(30, .all), world: wheel)) func aSpeedClientReturns() async throws {
        try await Self.use(CyclingSpeedAndCadenceService.uuid) { device in
            let client = SpeedSensorClient<CyclingSpeedAndCadenceService>(device)
            return [
                { _ = try await client.feature() }, { _ = try await client.sensorLocation() },
                { _ = try await client.writeControlPoint(.setCumulativeValue(7)) },
                { try await Self.receive(3, of: client.measurements) },
                { _ = try await client.writeControlPoint(.requestSupportedSensorLocations) },
            ]
        }
    }

    @Test(.emulator(.histories(30, .all), world: thermometer)) func aThermometerClientReturns() async throws {
        try await Self.use(HealthThermometerService.uuid) { device in
            let client = HealthThermometerClient(device)
            return [
                { _ = try await client.type() }, { _ = try await client.interval() },
                { try await client.setInterval(MeasurementInterval(seconds: 1)) },
                { try await Self.receive(2, of: client.measurements) },
            ]
        }
    }

    @Test(.emulator(.histories(30, .all), world: others)) func theClientsOfOtherProfilesReturn() async throws {
        try await Self.use(CurrentTimeService.uuid) { device in
            let client = CurrentTimeClient(device)
            return [
                { _ = try await client.time() }, { _ = try await client.localTimeInformation() },
                { _ = try await client.referenceTimeInformation() },
            ]
        }
        try await Self.use(DeviceInformationService.uuid) { device in
            [{ _ = try await DeviceInformationClient(device).values() }]
        }
    }

    @Test(.emulator(.histories(30, .all), world: line)) func aLineReturns() async throws {
        try await Self.use(NordicUARTService.uuid) { device in
            let client = NordicUARTClient(device)
            return [
                {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await Self.receive(3, of: client.received) }
                        group.addTask {
                            while true {
                                try await client.send(Data((0..<100).map { UInt8($0) }))
                                try await Task.sleep(for: .seconds(1))
                            }
                        }
                        defer { group.cancelAll() }
                        try await group.next()
                    }
                }
            ]
        }
    }

    /// The device is a program, too, on an adapter with failures.
    @Test(.emulator(.histories(30, .all, rate: 4))) func aSimulatedDeviceIsBackAfterItsAdapterIs() async throws {
        let emulator = Emulator.current
        let rates = Log<UInt16>()
        let time = Log<Duration>()
        emulator.always("measurements arrive in order, and none twice") {
            zip(rates.values, rates.values.dropFirst()).allSatisfy { $0 < $1 }
        }
        try await emulator.run(within: .seconds(10_000)) {
            let device = SimulatedDevice(name: "Heart", servers: [HeartRateServer(rate: { UInt16($0 + 1) })])
            try await Self.start(device)
            let central = Central(settings: Self.settings)
            let monitor = try await Self.find(HeartRateService.uuid, central)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in monitor.maintainConnection() {} }
                group.addTask {
                    while true {
                        do {
                            for try await value in HeartRateClient(monitor).measurements {
                                rates.append(value.rate)
                                time.append(emulator.now)
                            }
                        } catch is BluetoothError {}
                        try await Task.sleep(for: .seconds(1))
                    }
                }
                while emulator.now < .seconds(60) || emulator.now - (time.values.last ?? .zero) > .seconds(5) {
                    guard emulator.now < .seconds(1_000) else {
                        Issue.record("no measurement since \(time.values.last ?? .zero)")
                        break
                    }
                    try await Task.sleep(for: .seconds(1))
                }
                group.cancelAll()
            }
            await monitor.disconnect()
            device.stop()
        }
    }

    private static func start(_ device: SimulatedDevice) async throws {
        while true {
            do {
                return try await device.start()
            } catch is SimulatedDeviceError { try await Task.sleep(for: .seconds(1)) }
        }
    }
}

/// A collection of values from any task.
private final class Log<Value: Sendable>: Sendable {
    private let contents = Lock<[Value]>([])
    var values: [Value] { contents.withLock { $0 } }
    func append(_ value: Value) { contents.withLock { $0.append(value) } }
}
