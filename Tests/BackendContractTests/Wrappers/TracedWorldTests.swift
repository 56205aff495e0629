import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// The trace of an app that uses an emulated world.
@Suite struct TracedWorldTests {
    @Test func eachCategoryHasItsLinesInTheOrderOfTheWorldAndInItsTime() async throws {
        let world = try FaultyWorld()
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        try await world.context.subscribe(to: service.characteristic(.notifying), of: peripheral)
        world.outside.log("the peer notifies")
        try await world.context.perform(.notify(.notifying, [1]))
        try await world.context.expect(.didUpdateValue(.notifying, [1]))
        try await world.context.roundTrip(peripheral, service.characteristic(.readOnly))

        let entries = world.outside.entries
        func names(_ category: TraceCategory) -> [String] {
            entries.filter { $0.category == category }.map { String($0.text.prefix { $0 != " " }) }
        }
        #expect(names(.configuration) == ["makeCentral", "activate"])
        #expect(
            names(.command) == [
                "startScan", "stopScan", "connect", "discoverServices", "discoverCharacteristics", "setNotifying",
            ])
        #expect(names(.data) == ["valueNotified", "read", "valueRead"])
        let callbacks = names(.callback).filter { !["discovered", "mtuChanged", "nameChanged"].contains($0) }
        #expect(
            callbacks == [
                "stateChanged", "connected", "servicesDiscovered", "characteristicsDiscovered", "notifyingChanged",
            ])
        #expect(names(.simulation) == ["the"])
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(entries.last.map { $0.time <= world.emulator.now } == true)
        #expect(Set(entries.map(\.source)) == ["central 1", ""])
    }

    @Test func valuesAndAddressesStayPrivate() async throws {
        let world = try FaultyWorld()
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.readValue(for: try service.characteristic(.stored))
        try await world.context.expect(.didUpdateValue(.stored, Data("hello".utf8)))
        let text = world.outside.entries.map(\.text).joined(separator: "\n")
        #expect(text.contains("value=<5 bytes>"))
        #expect(!text.lowercased().contains("68656c6c6f") && !text.uppercased().contains("F0:F1"))
    }

    @Test func theTraceIsTheSameOnBothSidesOfAnEmptyPlan() async throws {
        let world = try FaultyWorld()
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.writeValue(
            Data([1, 2]), for: try service.characteristic(.stored), type: .withResponse)
        try await world.context.expect(.didWriteValue(.stored))
        #expect(world.outside.entries.map(\.description) == world.inside.entries.map(\.description))
    }
}
