import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// A plain app with each hostile device: it receives what Apple's rules allow, and each request ends.
@Suite(.emulator(.instant)) struct HostileDeviceTests {
    /// Runs the app against a device for a minute.
    private func run(_ device: PeripheralDescription, for time: Duration = .seconds(60)) async throws -> PlainApp {
        try Emulator.current.add(device)
        let app = PlainApp()
        try await Emulator.current.advance(by: time)
        app.stop()
        return app
    }

    @Test func anOddMTUChangesNothingForReadsAndNotifications() async throws {
        let app = try await run(.oddMTU)
        #expect(app.values == [Data([1, 2, 3])])
        #expect(app.disconnections.isEmpty)
    }

    @Test func aDeviceThatNeverAnswersIsGoneAfterHalfAMinute() async throws {
        let app = try await run(.neverAnswers)
        #expect(app.characteristics == 1)
        #expect(app.values.isEmpty)
        #expect(app.disconnections.count == 1)
        #expect((app.disconnections.first as? CBError)?.code == .connectionTimeout)
    }

    @Test func aDeviceThatIsNeverDiscoveredIsGoneAfterHalfAMinute() async throws {
        let app = try await run(.neverDiscovered)
        #expect(app.services == 0)
        #expect(app.disconnections.count == 1)
    }

    @Test func anEarlyNotificationComesBeforeItsConfirmation() async throws {
        try Emulator.current.add(.notifiesTooEarly)
        let app = PlainApp()
        await Emulator.current.expect(.didDiscoverCharacteristics, .didUpdateValue, .didUpdateValue)
        await Emulator.current.expect(.didUpdateNotificationState)
        #expect(app.values.map { String(decoding: $0, as: UTF8.self) }.last == "B")
        app.stop()
    }

    @Test func endlessServicesAreAllDiscoveredAndRead() async throws {
        let app = try await run(.endlessServices(300, characteristics: 5), for: .seconds(5))
        #expect(app.services == 300)
        #expect(app.characteristics == 1_500)
        #expect(app.values.count == 1_500)
    }

    @Test func malformedValuesArriveAsTheyAre() async throws {
        let app = try await run(.malformedValues, for: .seconds(10))
        #expect(app.errors.isEmpty)
        #expect(app.values.contains(Data()))
        #expect(app.values.contains(Data([0xFF, 0xFE, 0x00, 0xC3])))
        // Each notifying characteristic sends a value every second.
        #expect(app.values.count > 12 + 5 * 8)
    }

    @Test(arguments: [PeripheralDescription.disconnectsAtOnce, .disconnectsInDiscovery, .disconnectsInRead])
    func aDisconnectionIsReportedOnceAndNothingComesAfter(device: PeripheralDescription) async throws {
        let app = try await run(device)
        #expect(app.disconnections.count == 1)
        #expect((app.disconnections.first as? CBError)?.code == .peripheralDisconnected)
        #expect(app.values.isEmpty)
    }

    @Test func equalUUIDsAreNineObjects() async throws {
        let app = try await run(.equalUUIDs)
        #expect(app.services == 3)
        #expect(app.characteristics == 9)
        #expect(Set(app.values).count == 9)
    }

    @Test func aStrangeNameIsAName() async throws {
        let app = try await run(.strangeName)
        #expect(app.values == [Data([1, 2, 3])])
    }

    @Test func emptyValuesAreValues() async throws {
        let app = try await run(.emptyValues, for: .seconds(5))
        #expect(app.services == 2)
        #expect(app.values.count > 3)
        #expect(Set(app.values) == [Data()])
    }

    @Test func eachChangeOfServicesIsReported() async throws {
        let app = try await run(.changingServices, for: .seconds(10))
        #expect(app.changes > 90)
        #expect(app.disconnections.isEmpty)
    }

    @Test func theListHasAllHostileDevices() {
        #expect(Set(PeripheralDescription.hostile).count == 13)
        #expect(PeripheralDescription.hostile.allSatisfy { $0.handler != nil })
    }
}
