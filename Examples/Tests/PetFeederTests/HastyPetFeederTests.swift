#if os(Linux)
import CoreBluetoothTesting
import EmulatedFeeder
import HastyPetFeeder
import Testing

/// The same test of an app that makes a new meal for each attempt.
@Suite struct HastyPetFeederTests {
    @Test func aThousandHistoriesFindTheSecondMeal() async {
        await withKnownIssue {
            await Emulator.histories(.histories(1000)) {
                let feeder = try Emulator.current.add(EmulatedFeeder.device())
                Emulator.current.always("a meal is given once") { feeder.meals <= 1 }
                try await Emulator.current.run { try await FeederApp().giveMeal() }
            }
        }
    }
}
#endif
