import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Operations under radio histories: each returns once, and in time; what was confirmed has happened, once; and when
/// all is over, the device can be used again.
@Suite struct OperationHistoriesTests {
    private static let settings = Central.Settings(connectTimeout: .seconds(30))
    /// The longest time of an operation without a timeout of its own.
    ///
    /// The connection and each of four requests take at most 30 s, and an end of the link 6 s.
    private static let limit = Duration.seconds(200)

    /// A history of up to twelve incidents, and what the body of a test needs in it.
    private static func withStore(
        _ body: @escaping @Sendable (Central, RecordingStore) async throws -> Void
    ) async throws {
        let emulator = Emulator.current
        let store = RecordingStore()
        try emulator.add(EmulatedPeripheral(RecordingStore.description, handler: store))
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central(settings: settings)
            try await body(central, store)
            try await expectRecovery(central)
        }
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }

    /// Runs an operation, and returns whether it succeeded.
    private static func succeeds(_ name: String, _ operation: () async throws -> Void) async throws -> Bool {
        let begin = Emulator.current.now
        defer {
            let time = Emulator.current.now - begin
            if time > limit { Issue.record("\(name) took \(time)") }
        }
        do {
            try await operation()
            return true
        } catch is BluetoothError {
            try await Task.sleep(for: .seconds(1))
            return false
        }
    }

    /// Expects that the device can be used when all incidents are over.
    private static func expectRecovery(_ central: Central) async throws {
        let emulator = Emulator.current
        try await Task.sleep(for: emulator.endOfIncidents - emulator.now)
        // Faults that no step has met yet still make some attempts fail.
        for _ in 0..<20 {
            let device = try await central.find(RecordingStore.service)
            let isRead = try await succeeds("the last read") {
                guard try await device.read(RecordingStore.name) == Data("Store".utf8) else {
                    throw BluetoothError(.init(.read), .cancelled)
                }
            }
            await device.disconnect()
            if isRead { return }
        }
        Issue.record("the device cannot be used after all incidents")
    }

    @Test(.emulator(.histories(30))) func aConfirmedWriteHasArrivedAndNoneArrivesTwice() async throws {
        try await Self.withStore { central, store in
            Emulator.current.always("records are stored in order, each once") { store.records.values.isAscending }
            let confirmed = Log<UInt8>()
            let device = try await central.find(RecordingStore.service)
            for number in UInt8(1)...10 {
                let isConfirmed = try await Self.succeeds("a write") {
                    try await device.write(Data([number]), to: RecordingStore.record)
                }
                if isConfirmed { confirmed.append(number) }
            }
            let stored = store.records.values
            #expect(confirmed.values.allSatisfy(stored.contains))
        }
    }

    @Test(.emulator(.histories(30))) func writesWithoutResponseArriveInOrderAndNoneTwice() async throws {
        try await Self.withStore { central, store in
            Emulator.current.always("commands arrive in order, each once") { store.commands.values.isAscending }
            let device = try await central.find(RecordingStore.service)
            for number in UInt8(1)...50 {
                _ = try await Self.succeeds("a write without response") {
                    try await device.writeWithoutResponse(Data([number]), to: RecordingStore.stream)
                }
            }
        }
    }

    @Test(.emulator(.histories(30))) func anExchangeReturnsItsOwnAnswer() async throws {
        try await Self.withStore { central, _ in
            let device = try await central.find(RecordingStore.service)
            for number in UInt8(1)...10 {
                _ = try await Self.succeeds("an exchange") {
                    let answer = try await withTimeout(.seconds(40)) {
                        try await device.exchange(
                            Data([number]), writingTo: RecordingStore.command, notifiedBy: RecordingStore.command
                        ) { $0.first == number }
                    }
                    if answer.first != number { Issue.record("\(Array(answer)) answered \(number)") }
                }
            }
        }
    }

    @Test(.emulator(.histories(30, .all, rate: 5))) func eachOperationReturnsInTime() async throws {
        try await Self.withStore { central, _ in
            let device = try await central.find(RecordingStore.service)
            let operations: [(String, @Sendable () async throws -> Void)] = [
                ("connect", { try await device.connect() }),
                ("services", { _ = try await device.services() }),
                ("characteristics", { _ = try await device.characteristics(of: "FFE0") }),
                ("descriptors", { _ = try await device.descriptors(of: RecordingStore.name) }),
                ("read", { _ = try await device.read(RecordingStore.name) }),
                ("read of a descriptor", { _ = try await device.read(descriptor: "FFE0/FFE4/2901") }),
                ("write", { try await device.write(Data([1]), to: RecordingStore.record) }),
                (
                    "write without response",
                    { try await device.writeWithoutResponse(Data([1]), to: RecordingStore.stream) }
                ),
                ("signal strength", { _ = try await device.readRSSI() }),
                ("subscribe", { _ = try await device.subscribe(to: RecordingStore.command) }),
                ("unsubscribe", { try await device.unsubscribe(from: RecordingStore.command) }),
                ("includedServices", { _ = try await device.includedServices(of: "FFE0") }),
            ]
            for _ in 0..<2 {
                for (name, operation) in operations {
                    _ = try await Self.succeeds(name, operation)
                    try await Task.sleep(for: .milliseconds(300))
                }
                await device.disconnect()
            }
        }
    }

    @Test(.emulator(.histories(30, .all, rate: 5))) func nothingIsLeftOfOperationsThatAreCancelled() async throws {
        try await Self.withStore { central, _ in
            let device = try await central.find(RecordingStore.service)
            let operations: [@Sendable () async throws -> Void] = [
                { _ = try await device.read(RecordingStore.name) },
                { try await device.write(Data([1]), to: RecordingStore.record) },
                { for _ in 0..<20 { try await device.writeWithoutResponse(Data([1]), to: RecordingStore.stream) } },
                { _ = try await device.readRSSI() },
                { for try await _ in device.notifications(of: RecordingStore.command) {} },
                { for try await _ in central.scan(allowDuplicates: true) {} },
                { for await _ in device.maintainConnection() {} },
                { for await _ in central.states {} },
                {
                    _ = try await device.exchange(
                        Data([7]), writingTo: RecordingStore.command, notifiedBy: RecordingStore.command)
                },
            ]
            for round in 0..<6 {
                await withTaskGroup(of: Void.self) { group in
                    for (index, operation) in operations.enumerated() {
                        group.addTask {
                            do {
                                try await withTimeout(.milliseconds(100 * (round + 1) * (index + 1)), operation)
                            } catch {}
                        }
                    }
                }
                if round % 2 == 1 { await device.disconnect() }
            }
        }
    }
}
