import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Applications and advertisements of an adapter without power.
@Suite struct ServingWithoutPowerTests {
    private func switchedOff() -> DaemonFixture {
        var fixture = DaemonFixture()
        fixture.report(.stateChanged(.poweredOff))
        _ = fixture.lines()
        return fixture
    }

    // MARK: Applications

    private func register(_ fixture: inout DaemonFixture) {
        fixture.registerApplication()
        fixture.reply(ServingTests.application(["read"]))
    }

    /// Confirms all services that were added to the controller.
    private func confirmServices(_ fixture: inout DaemonFixture) {
        for case .peripheral(_, .addService(let operation, _)) in fixture.outputs {
            fixture.handle(.peripheral(adapter: 0, .serviceAdded(operation: operation)))
        }
    }

    @Test func anApplicationIsRegisteredAtOnceAndPublishedWhenThePowerReturns() {
        var fixture = switchedOff()
        register(&fixture)
        #expect(
            fixture.lines() == [
                "watch :1.1", ":1.1 /app GetManagedObjects", ServingTests.adapterServices("0000fff0"), "answer 1",
            ])
        fixture.report(.stateChanged(.poweredOn))
        confirmServices(&fixture)
        #expect(fixture.lines() == ["peripheral addService", "hci0 Powered=true"])
    }

    @Test func anApplicationThatIsBeingPublishedWhenThePowerEndsIsPublishedWhenItReturns() {
        var fixture = DaemonFixture()
        register(&fixture)
        #expect(fixture.lines().suffix(2) == ["peripheral addService", ServingTests.adapterServices("0000fff0")])
        fixture.report(.stateChanged(.poweredOff))
        #expect(fixture.lines() == ["hci0 Powered=false", "answer 1"])
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines() == ["peripheral addService", "hci0 Powered=true"])
    }

    @Test func anApplicationIsPublishedOnce() {
        var fixture = DaemonFixture()
        register(&fixture)
        confirmServices(&fixture)
        _ = fixture.lines()
        fixture.report(.stateChanged(.poweredOff))
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines() == ["hci0 Powered=false", "hci0 Powered=true"])
    }

    @Test func anApplicationThatIsUnregisteredWithoutPowerIsNotPublished() {
        var fixture = switchedOff()
        register(&fixture)
        fixture.call(
            "UnregisterApplication", .objectPath(.constant("/app")), on: DaemonFixture.adapter,
            "org.bluez.GattManager1")
        #expect(fixture.lines().last == "answer 2")
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines() == ["hci0 Powered=true"])
    }

    @Test func aServiceThatIsWithdrawnWhileItIsPublishedIsNotWaitedFor() {
        var fixture = DaemonFixture()
        register(&fixture)
        fixture.withdraw("/app/service", "org.bluez.GattService1", of: "/app")
        fixture.report(.stateChanged(.poweredOff))
        #expect(fixture.lines().contains("answer 1"))
    }

    // MARK: Advertisements

    private func advertise(_ fixture: inout DaemonFixture, _ path: String = "/ad") {
        fixture.call(
            "RegisterAdvertisement", .objectPath(.constant(path)), .properties([:]), on: DaemonFixture.adapter,
            "org.bluez.LEAdvertisingManager1")
        fixture.reply(.properties(["Type": .string("broadcast")]))
    }

    @Test func anAdvertisementIsRefusedAndMayBeRegisteredWhenThePowerReturns() {
        var fixture = switchedOff()
        advertise(&fixture)
        #expect(
            fixture.lines() == [
                "watch :1.1", ":1.1 /ad GetAll org.bluez.LEAdvertisement1",
                "refuse 1 Failed: Failed to register advertisement",
            ])
        fixture.report(.stateChanged(.poweredOn))
        _ = fixture.lines()
        advertise(&fixture)
        #expect(fixture.lines().suffix(2) == ["open advertiser", "advertiser startAdvertising"])
    }

    @Test func advertisementsThatAreRefusedTakeNoPlace() {
        var fixture = switchedOff()
        for number in 0..<6 { advertise(&fixture, "/ad\(number)") }
        #expect(fixture.lines().last == "refuse 6 Failed: Failed to register advertisement")
    }

    @Test func anAdvertisementThatIsNotOnTheAirWhenThePowerEndsIsRefused() {
        var fixture = DaemonFixture()
        advertise(&fixture)
        _ = fixture.lines()
        fixture.report(.stateChanged(.poweredOff))
        #expect(
            fixture.lines() == [
                "close advertiser", "hci0 Powered=false", "refuse 1 Failed: Failed to complete registration",
            ])
    }
}
