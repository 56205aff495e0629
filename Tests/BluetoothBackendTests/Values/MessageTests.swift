import BluetoothBackend
import FoundationEssentials
import Testing

/// Commands and events as values: small, and unchanged by encoding in JSON.
struct MessageTests {
    @Test func eachCommandAndEventIsUnder64Bytes() {
        #expect(MemoryLayout<CentralCommand>.stride < 64)
        #expect(MemoryLayout<CentralEvent>.stride < 64)
        #expect(MemoryLayout<PeripheralCommand>.stride < 64)
        #expect(MemoryLayout<PeripheralEvent>.stride < 64)
        #expect(MemoryLayout<PairingCommand>.stride < 64)
        #expect(MemoryLayout<PairingEvent>.stride < 64)
    }

    @Test func theSamplesHaveEachCase() {
        #expect(Set(Samples.centralCommands.map(\.kind)) == Set(CentralCommand.Kind.allCases))
        #expect(Set(Samples.centralEvents.map(\.kind)) == Set(CentralEvent.Kind.allCases))
        #expect(Set(Samples.peripheralCommands.map(\.kind)) == Set(PeripheralCommand.Kind.allCases))
        #expect(Set(Samples.peripheralEvents.map(\.kind)) == Set(PeripheralEvent.Kind.allCases))
        #expect(Set(Samples.pairingCommands.map(\.kind)) == Set(PairingCommand.Kind.allCases))
        #expect(Set(Samples.pairingEvents.map(\.kind)) == Set(PairingEvent.Kind.allCases))
    }

    @Test(arguments: Samples.centralCommands)
    func aCentralCommandSurvivesJSON(_ command: CentralCommand) throws {
        #expect(try roundTrip(command) == command)
    }

    @Test(arguments: Samples.centralEvents)
    func aCentralEventSurvivesJSON(_ event: CentralEvent) throws {
        #expect(try roundTrip(event) == event)
    }

    @Test(arguments: Samples.peripheralCommands)
    func aPeripheralCommandSurvivesJSON(_ command: PeripheralCommand) throws {
        #expect(try roundTrip(command) == command)
    }

    @Test(arguments: Samples.peripheralEvents)
    func aPeripheralEventSurvivesJSON(_ event: PeripheralEvent) throws {
        #expect(try roundTrip(event) == event)
    }

    @Test(arguments: Samples.pairingCommands)
    func aPairingCommandSurvivesJSON(_ command: PairingCommand) throws {
        #expect(try roundTrip(command) == command)
    }

    @Test(arguments: Samples.pairingEvents)
    func aPairingEventSurvivesJSON(_ event: PairingEvent) throws {
        #expect(try roundTrip(event) == event)
    }

    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
}
