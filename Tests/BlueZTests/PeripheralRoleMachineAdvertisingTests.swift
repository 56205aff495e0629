#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Foundation
import Testing

@testable import BlueZ

/// Advertising, on the role machine alone.
@Suite struct PeripheralRoleMachineAdvertisingTests {
    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    private func objects(_ fixture: PeripheralRoleFixture, _ kind: ExportedObject.Kind) -> [ExportedObject] {
        fixture.objects.values.filter { $0.kind == kind }.sorted { $0.path < $1.path }
    }

    @Test func anAdvertisementSaysNameAndServicesAndHasNoTimeout() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise()
        let object = objects(fixture, .advertisement)[0]
        #expect(object.properties["Type"] == .string("peripheral"))
        #expect(object.properties["LocalName"] == .string("Served"))
        #expect(object.properties["ServiceUUIDs"] == .strings(["180D"]))
        #expect(object.properties["Discoverable"] == .boolean(true))
        #expect(object.properties["Timeout"] == nil)
        #expect(fixture.events.isEmpty)
        let registered = fixture.answer("RegisterAdvertisement")
        #expect(registered?.body == [.objectPath(object.path), .properties([:])])
        #expect(fixture.events == [.advertisingStarted(operation: operation(1))])
    }

    @Test func dataOfAManufacturerAndOfServicesAreAdvertised() {
        let plan = AdvertisementPlan(
            Advertisement(serviceData: ["FCD2": Data([0x40, 1, 97])], manufacturerData: Data([0x99, 0x04, 5])))
        #expect(
            plan.properties["ManufacturerData"]
                == .dictionary(
                    DBusDictionary(
                        keyType: .uint16, valueType: .variant,
                        entries: [DBusDictionary.Entry(key: .uint16(0x0499), value: .variant(.bytes([5])))])))
        #expect(
            plan.properties["ServiceData"]
                == .dictionary(
                    DBusDictionary(
                        keyType: .string, valueType: .variant,
                        entries: [
                            DBusDictionary.Entry(key: .string("FCD2"), value: .variant(.bytes([0x40, 1, 97])))
                        ])))
        let short = AdvertisementPlan(Advertisement(manufacturerData: Data([0x99]))).properties
        #expect(short["ManufacturerData"] == nil && short["ServiceData"] == nil)
    }

    @Test func whatDoesNotFitIsLeftOutFromTheEnd() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise(services: ["180D", "180F", "180A"])
        for _ in 0..<2 { fixture.refuse("RegisterAdvertisement", "Failed", "Failed to parse advertisement.") }
        #expect(objects(fixture, .advertisement).map { $0.properties["ServiceUUIDs"] } == [.strings(["180D"])])
        fixture.answer("RegisterAdvertisement")
        #expect(fixture.events == [.advertisingStarted(operation: operation(1))])
    }

    @Test func anAdvertisementThatNeverFitsFails() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise()
        for _ in 0..<2 { fixture.refuse("RegisterAdvertisement", "Failed", "Failed to parse advertisement.") }
        guard case .operationFailed(_, let error)? = fixture.events.first else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .outOfSpace)
        #expect(fixture.objects.isEmpty && fixture.waiting.isEmpty)
    }

    @Test func tooManyAdvertisementsAreOutOfSpace() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise()
        fixture.refuse("RegisterAdvertisement", "NotPermitted", "Maximum advertisements reached")
        guard case .operationFailed(_, let error)? = fixture.events.first else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .outOfSpace)
        #expect(error.message == "Maximum advertisements reached")
    }

    @Test func stoppingUnregistersAndTheNextStartWaitsForTheLast() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise(1)
        fixture.command(.stopAdvertising)
        fixture.advertise(2, name: "Again")
        #expect(fixture.waiting == ["RegisterAdvertisement"])
        fixture.answer("RegisterAdvertisement")
        #expect(fixture.waiting == ["UnregisterAdvertisement", "RegisterAdvertisement"])
        fixture.answer("RegisterAdvertisement")
        #expect(
            fixture.events == [
                .advertisingStarted(operation: operation(1)), .advertisingStarted(operation: operation(2)),
            ])
        #expect(objects(fixture, .advertisement).map { $0.properties["LocalName"] } == [.string("Again")])
    }

    @Test func anAdvertisementThatTheDaemonReleasesHasEnded() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise()
        fixture.answer("RegisterAdvertisement")
        let number = fixture.call(objects(fixture, .advertisement)[0].path, "Release")
        #expect(fixture.answers[number] == .success([]))
        #expect(fixture.events.last == .advertisingEnded)
        #expect(fixture.objects.isEmpty)
        #expect(fixture.waiting.isEmpty)
    }

    /// Returns a fixture that advertises, with a controller of Bluetooth 5.
    private func advertisingWithExtendedSets() -> PeripheralRoleFixture {
        var fixture = PeripheralRoleFixture.poweredOn(isExtended: true)
        fixture.advertise(1)
        fixture.answer("RegisterAdvertisement")
        fixture.clear()
        return fixture
    }

    @Test func S123_anAdvertisementThatAConnectionEndsIsRegisteredAgain() {
        var fixture = advertisingWithExtendedSets()
        let first = objects(fixture, .advertisement)
        fixture.connect(PeripheralRoleFixture.one)
        #expect(fixture.waiting == ["UnregisterAdvertisement", "RegisterAdvertisement"])
        fixture.answer("RegisterAdvertisement")
        let second = objects(fixture, .advertisement)
        #expect(second.count == 1 && second.map(\.path) != first.map(\.path))
        #expect(second.map(\.properties) == first.map(\.properties))
        #expect(fixture.events == [])
        fixture.command(.stopAdvertising)
        #expect(objects(fixture, .advertisement) == [])
    }

    @Test func S123_withLegacyAdvertisingLinuxAdvertisesByItself() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise(1)
        fixture.answer("RegisterAdvertisement")
        fixture.connect(PeripheralRoleFixture.one)
        #expect(fixture.waiting == [])
    }

    @Test func S123_anAdvertisementThatCannotBeRegisteredAgainHasEnded() {
        var fixture = advertisingWithExtendedSets()
        fixture.connect(PeripheralRoleFixture.one)
        fixture.refuse("RegisterAdvertisement", "Failed", "Failed to register advertisement")
        #expect(fixture.events == [.advertisingEnded])
        #expect(objects(fixture, .advertisement) == [])
        fixture.connect(PeripheralRoleFixture.two)
        #expect(!fixture.waiting.contains("RegisterAdvertisement"))
    }

    @Test func S123_stoppingAndALossOfPowerEndAnAdvertisementThatIsRegisteredAgain() {
        for endsByPower in [false, true] {
            var fixture = advertisingWithExtendedSets()
            fixture.connect(PeripheralRoleFixture.one)
            if endsByPower { fixture.setPowered(false) } else { fixture.command(.stopAdvertising) }
            fixture.answer("RegisterAdvertisement")
            #expect(objects(fixture, .advertisement) == [])
            #expect(fixture.waiting.last == "UnregisterAdvertisement")
        }
    }

    @Test func powerEndsAdvertisingAlsoWhileItBegins() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.advertise()
        fixture.setPowered(false)
        fixture.answer("RegisterAdvertisement")
        #expect(fixture.waiting == ["UnregisterAdvertisement"])
        #expect(fixture.objects.isEmpty)
        #expect(fixture.events == [.stateChanged(.poweredOff)])
    }
}
#endif
