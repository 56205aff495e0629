import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// The article "Testing on both backends": one app, in virtual time and on the backend that the environment names.
@Suite struct BothBackendsTests {
    @Test(.emulator(.instant, world: .builtIn)) func theLevelIsReadInVirtualTime() async {
        let reader = BatteryReader()
        await Emulator.current.expect(.didConnect, .didUpdateValue.of("2A19"))
        #expect(await reader.level() == 87)
    }

    @Test(.enabled(if: isBackendNamed), .timeLimit(.minutes(5))) func theLevelIsReadOnTheNamedBackend() async throws {
        let level = try #require(await BatteryReader().level())
        #expect((0...100).contains(level))
    }

    private static let isBackendNamed = ProcessInfo.processInfo.environment["COREBLUETOOTH_BACKEND"] != nil
}
