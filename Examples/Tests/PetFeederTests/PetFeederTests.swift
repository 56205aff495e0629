#if os(Linux)
import CoreBluetoothTesting
import EmulatedFeeder
import PetFeeder
import Testing

/// Tests of the app under a thousand radio histories, in each of which other things go wrong.
@Suite(.emulator(.histories(1000))) struct PetFeederTests {
    @Test func aMealIsGivenOnce() async throws {
        let feeder = try Emulator.current.add(EmulatedFeeder.device())
        try await Emulator.current.run { try await FeederApp().giveMeal() }
        #expect(feeder.meals == 1)
    }
}
#endif
