import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothClasses
import Foundation
import Testing

/// A device that plays a recording, in virtual time and on a link without latency.
@Suite struct ReplayTests {
    private static let services = [
        ServiceDescription(
            "FFF0",
            characteristics: [
                .init("FFF1", [.read]), .init("FFF2", [.write]), .init("FFF3", [.notify]), .init("FFF4", [.notify]),
                .init("FFF5", [.read, .write], value: Data([9])),
            ])
    ]

    private func recording(_ lines: String) throws -> DeviceRecording {
        let device = PeripheralDescription(
            name: "Lamp", advertising: [.init(.init(localName: "Lamp"))], services: Self.services)
        let empty = DeviceRecording(device: device, source: .init(backend: "bluez", isRedacted: true))
        return try DeviceRecording(jsonLines: try empty.jsonLines() + Data(lines.utf8))
    }

    /// Runs a client of a device that plays lines.
    private func play<Result: Sendable>(
        _ lines: String, _ options: ReplayOptions = ReplayOptions(),
        _ body: @escaping @Sendable (Peripheral, Emulator) async throws -> Result
    ) async throws -> (Result, Emulator) {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        _ = try emulator.add(try recording(lines).replayed(options))
        let result = try await emulator.run {
            let central = Central(backend: .emulator(emulator))
            let peripheral = try await Lamp.first(central)
            try await peripheral.connect()
            _ = try await peripheral.characteristics(of: "FFF0")
            return try await body(peripheral, emulator)
        }
        return (result, emulator)
    }

    private static let threeReads = """
        {"t":1,"read":"FFF0/FFF1","value":"01","took":"40 ms"}
        {"t":2,"read":"FFF0/FFF1","error":2,"took":"50 ms"}
        {"t":3,"read":"FFF0/FFF1","value":"03","took":"60 ms"}

        """

    @Test func readsAreAnsweredInTurnWithTheirLatencies() async throws {
        let (answers, _) = try await play(Self.threeReads) { peripheral, emulator in
            var answers: [String] = []
            for _ in 0..<4 {
                let start = emulator.now
                let value = await Lamp.outcome { try await peripheral.read("FFF0/FFF1").hexText }
                answers.append("\(value) \(emulator.now - start)")
            }
            return answers
        }
        #expect(answers == ["01 0.04 seconds", "ATT 2 0.05 seconds", "03 0.06 seconds", "03 0.06 seconds"])
    }

    @Test func theLastReadAnswersAllWhereThatIsWanted() async throws {
        let (value, emulator) = try await play(Self.threeReads, ReplayOptions(reads: .last, latency: .none)) {
            peripheral, emulator in
            let start = emulator.now
            let value = try await peripheral.read("FFF0/FFF1")
            #expect(emulator.now == start)
            return value
        }
        #expect(value == Data([3]))
        #expect(!emulator.trace.contains { $0.text.contains("recording") })
    }

    @Test func speedShortensAllTimes() async throws {
        let (time, _) = try await play(Self.threeReads, ReplayOptions(speed: 10)) { peripheral, emulator in
            let start = emulator.now
            _ = try await peripheral.read("FFF0/FFF1")
            return emulator.now - start
        }
        #expect(time == .milliseconds(4))
    }

    @Test func aWriteHasItsAnswerAndItsConsequencesAtTheirDistances() async throws {
        let lines = """
            {"t":1,"subscribe":"FFF0/FFF3","took":"0 s"}
            {"t":2,"write":"FFF0/FFF2","value":"05","took":"30 ms"}
            {"t":2.2,"notified":"FFF0/FFF3","value":"0a","after":{"write":"FFF0/FFF2","value":"05"}}
            {"t":2.3,"notified":"FFF0/FFF3","value":"0b","after":{"write":"FFF0/FFF2","value":"05"}}
            {"t":4,"write":"FFF0/FFF2","value":"06","took":"20 ms","error":128}

            """
        let (log, _) = try await play(lines) { peripheral, emulator in
            let values = try await peripheral.subscribe(to: ["FFF0/FFF3"])
            let start = emulator.now
            var log = [await Lamp.outcome { try await peripheral.write(Data([6]), to: "FFF0/FFF2") }]
            try await peripheral.write(Data([5]), to: "FFF0/FFF2")
            for _ in 0..<2 {
                let value = try await values.first { _ in true }
                log.append("\(value?.value.hexText ?? "end") \(emulator.now - start)")
            }
            return log
        }
        // The refused write takes 20 ms; the other one begins then.
        #expect(log == ["ATT 128", "0A 0.22 seconds", "0B 0.32 seconds"])
    }

    @Test func aPauseOfMonthsPlayedSlowlyIsLongAndNoTrap() async throws {
        let lines = """
            {"t":1,"subscribe":"FFF0/FFF3","took":"0 ms"}
            {"t":31536000,"notified":"FFF0/FFF3","value":"01"}

            """
        _ = try await play(lines, ReplayOptions(speed: 0.001)) { peripheral, emulator in
            let values = try await peripheral.subscribe(to: "FFF0/FFF3")
            try await emulator.swiftClock.sleep(for: .seconds(10))
            withExtendedLifetime(values) {}
        }
    }

    @Test func aSeriesBeginsWithTheSubscriptionAndLoops() async throws {
        let lines = """
            {"t":10,"subscribe":"FFF0/FFF4","took":"100 ms"}
            {"t":10.6,"notified":"FFF0/FFF4","value":"01"}
            {"t":11.6,"notified":"FFF0/FFF4","value":"02"}
            {"t":12.1,"notified":"FFF0/FFF4","value":"03"}
            {"t":13.1,"notified":"FFF0/FFF4","value":"04"}

            """
        @Sendable func values(_ peripheral: Peripheral, _ emulator: Emulator, _ count: Int) async throws -> [String] {
            let values = try await peripheral.subscribe(to: ["FFF0/FFF4"])
            let start = emulator.now
            var log: [String] = []
            while log.count < count, let value = try await values.first(where: { _ in true }) {
                log.append("\(value.value.hexText) \(emulator.now - start)")
            }
            return log
        }
        let (looped, _) = try await play(lines) { try await values($0, $1, 5) }
        #expect(
            looped == ["01 0.5 seconds", "02 1.5 seconds", "03 2.0 seconds", "04 3.0 seconds", "01 4.0 seconds"])
        let (once, emulator) = try await play(lines, ReplayOptions(notifications: .once)) { peripheral, emulator in
            let log = try await values(peripheral, emulator, 4)
            try await emulator.swiftClock.sleep(for: .seconds(60))
            return log
        }
        #expect(once.last == "04 3.0 seconds")
        let count = emulator.trace.count { $0.name == "valueNotified" }
        #expect(count == 4)
    }

    @Test func whatIsNotInTheRecordingIsStoredWithALineInTheTrace() async throws {
        let (values, emulator) = try await play(Self.threeReads) { peripheral, _ in
            var values = [try await peripheral.read("FFF0/FFF5")]
            try await peripheral.write(Data([7]), to: "FFF0/FFF5")
            values.append(try await peripheral.read("FFF0/FFF5"))
            return values
        }
        #expect(values == [Data([9]), Data([7])])
        let notes = emulator.trace.filter { $0.direction == .note }.map(\.text)
        #expect(notes.contains("a read of FFF0/FFF5 is not in the recording: the value of the description"))
        #expect(notes.contains("a write of 07 to FFF0/FFF5 is not in the recording: stored"))
    }

    @Test func theDeviceClosesTheLinksThatItClosed() async throws {
        let lines = """
            {"t":1,"link":"opened"}
            {"t":6,"link":"closed","reason":"remote"}
            {"t":7,"link":"opened"}
            {"t":8,"link":"closed","reason":"local"}

            """
        let (times, _) = try await play(lines) { peripheral, emulator in
            let start = emulator.now
            _ = try await peripheral.waitUntilDisconnected()
            let closed = emulator.now - start
            try await peripheral.connect()
            try await emulator.swiftClock.sleep(for: .seconds(60))
            return (closed, peripheral.state)
        }
        #expect(times.0 == .seconds(5) && times.1 == .connected)
    }

    @Test func aRefusedSubscriptionIsRefused() async throws {
        let (outcome, _) = try await play(#"{"t":1,"subscribe":"FFF0/FFF4","error":128}"# + "\n") { peripheral, _ in
            await Lamp.outcome { _ = try await peripheral.subscribe(to: ["FFF0/FFF4"]) }
        }
        #expect(outcome == "ATT 128")
    }

    @Test func aSubscriptionIsRefusedToTheOneOfTwoEqualCharacteristicsThatRefusedIt() async throws {
        let twins = [CharacteristicDescription("FFF6", [.notify]), CharacteristicDescription("FFF6", [.notify])]
        let device = PeripheralDescription(
            name: "Lamp", advertising: [.init(.init(localName: "Lamp"))],
            services: [ServiceDescription("FFF0", characteristics: twins)])
        let empty = DeviceRecording(device: device, source: .init(backend: "bluez", isRedacted: true))
        let line = Data((#"{"t":1,"subscribe":"FFF0/FFF6#1","error":128}"# + "\n").utf8)
        let recording = try DeviceRecording(jsonLines: try empty.jsonLines() + line)
        let emulator = Emulator(configuration: .instant, time: .virtual)
        _ = try emulator.add(recording.replayed())
        let outcomes = try await emulator.run {
            let peripheral = try await Lamp.first(Central(backend: .emulator(emulator)))
            return [
                await Lamp.outcome { _ = try await peripheral.subscribe(to: ["FFF0/FFF6"]) },
                await Lamp.outcome { _ = try await peripheral.subscribe(to: ["FFF0/FFF6#2"]) },
            ]
        }
        #expect(outcomes == ["done", "ATT 128"])
    }

    @Test func aSeriesDoesNotKeepTheWorldFromBeingIdle() async throws {
        let lines = """
            {"t":1,"subscribe":"FFF0/FFF4"}
            {"t":2,"notified":"FFF0/FFF4","value":"01"}

            """
        let (_, emulator) = try await play(lines) { peripheral, _ in try await peripheral.subscribe(to: ["FFF0/FFF4"]) }
        try await emulator.runUntilIdle()
    }

    @Test(arguments: [0, 0.0001, 1001, Double.nan])
    func aSpeedOutOfRangeIsRefused(speed: Double) throws {
        let device = try recording("").replayed(ReplayOptions(speed: speed))
        let error = #expect(throws: DescriptionError.self) { try EmulatedPeripheral(device) }
        #expect(error?.path == "replay.speed")
    }

    @Test func aDeviceHasAHandlerOrARecording() throws {
        var device = try recording("").replayed()
        device.handler = .battery
        let error = #expect(throws: DescriptionError.self) { try EmulatedPeripheral(device) }
        #expect(error?.rule == "a device has a handler or a recording, not both")
    }
}
