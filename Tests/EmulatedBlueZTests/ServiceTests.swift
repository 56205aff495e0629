import BluetoothDBus
import BluetoothEmulator
import EmulatedBlueZ
import ScriptedBlueZ
import Testing

/// The service on a private bus: its name, its end.
@Suite struct ServiceTests {
    @Test func theNameIsOwnedOnceTheWorldIsServed() async throws {
        let bus = try PrivateBus()
        let service = try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        await #expect(throws: EmulatedBlueZError.nameTaken) {
            try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        }
        service.stop()
        try await service.waitUntilEnd()
    }

    @Test func theServiceEndsWithTheBus() async throws {
        let bus = try PrivateBus()
        let service = try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        bus.kill()
        await #expect(throws: EmulatedBlueZError.self) { try await service.waitUntilEnd() }
    }

    @Test func virtualTimeIsRefused() async throws {
        let bus = try PrivateBus()
        await #expect(throws: EmulatedBlueZError.virtualTime) {
            try await EmulatedBlueZ.serve(Emulator(time: .virtual), on: bus.address.text)
        }
    }
}
