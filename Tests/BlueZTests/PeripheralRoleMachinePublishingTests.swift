#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// State and services, on the role machine alone.
@Suite struct PeripheralRoleMachinePublishingTests {
    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }
    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func add(_ fixture: inout PeripheralRoleFixture, _ number: UInt64, _ service: ServiceDefinition) {
        fixture.command(.addService(operation: operation(number), service: service))
    }

    private func objects(_ fixture: PeripheralRoleFixture, _ kind: ExportedObject.Kind) -> [ExportedObject] {
        fixture.objects.values.filter { $0.kind == kind }.sorted { $0.path < $1.path }
    }

    // MARK: State

    @Test func theStateFollowsDaemonAdapterAndPower() {
        var fixture = PeripheralRoleFixture()
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([:]))
        #expect(fixture.events.isEmpty)
        fixture.fire(.adapterReturn)
        fixture.receive(
            .interfacesAdded(CentralRoleFixture.adapter, PeripheralRoleFixture.adapterObject(isPowered: false))
        )
        fixture.setPowered(true)
        fixture.receive(.phase(.lost))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([CentralRoleFixture.adapter: PeripheralRoleFixture.adapterObject()]))
        fixture.receive(.phase(.denied))
        #expect(
            fixture.events == [
                .stateChanged(.unsupported), .stateChanged(.poweredOff), .stateChanged(.poweredOn),
                .stateChanged(.resetting), .stateChanged(.poweredOn), .authorizationChanged(.denied),
                .stateChanged(.unauthorized),
            ])
    }

    @Test func anAdapterWithoutTheRoleIsUnsupported() {
        var fixture = PeripheralRoleFixture()
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([CentralRoleFixture.adapter: CentralRoleFixture.adapterObject(roles: ["central"])]))
        #expect(fixture.events == [.stateChanged(.unsupported)])
    }

    @Test func aLaterManagerReceivesTheState() {
        var fixture = PeripheralRoleFixture.poweredOn()
        fixture.input(.activated(2))
        #expect(fixture.eventsByManager == [2: [.stateChanged(.poweredOn)]])
    }

    // MARK: Services

    @Test func aServiceIsAnApplicationOfItsOwn() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.service())
        let registered = fixture.answer("RegisterApplication")
        #expect(registered?.path == CentralRoleFixture.adapter)
        #expect(registered?.interface == "org.bluez.GattManager1")
        #expect(registered?.body == [.objectPath(objects(fixture, .application)[0].path), .properties([:])])
        #expect(fixture.events == [.serviceAdded(operation: operation(1))])
        #expect(objects(fixture, .service).map { $0.properties["Primary"] } == [.boolean(true)])
        #expect(
            objects(fixture, .characteristic).map { $0.properties["Flags"] } == [
                .strings(["read", "write"]), .strings(["read"]), .strings(["notify"]),
                .strings(["write-without-response"]), .strings(["indicate"]),
            ])
        #expect(
            objects(fixture, .characteristic).map { $0.properties["NotifyAcquired"] != nil } == [
                false, false, true, false, true,
            ])
        #expect(objects(fixture, .characteristic).allSatisfy { $0.properties["WriteAcquired"] == nil })
        #expect(objects(fixture, .descriptor).map { $0.properties["UUID"] } == [.string("2901")])
    }

    @Test func servicesAreRegisteredOneAfterTheOther() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(1))
        add(&fixture, 2, PeripheralRoleFixture.small(11))
        #expect(fixture.waiting == ["RegisterApplication"])
        fixture.answer("RegisterApplication")
        #expect(fixture.waiting == ["RegisterApplication"])
        fixture.answer("RegisterApplication")
        #expect(
            fixture.events == [.serviceAdded(operation: operation(1)), .serviceAdded(operation: operation(2))])
    }

    @Test func aRefusedServiceFailsWithTheDaemonsWordsAndIsWithdrawn() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(1))
        fixture.refuse("RegisterApplication", "Failed", "Failed to create entry in database")
        #expect(
            fixture.events == [
                .operationFailed(
                    operation: operation(1),
                    error: BackendError(
                        .outOfSpace, operation: "RegisterApplication", daemonName: "org.bluez.Error.Failed",
                        message: "Failed to create entry in database"))
            ])
        #expect(fixture.objects.isEmpty)
    }

    @Test func aRemovedServiceIsUnregistered() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(4, by: PeripheralRoleFixture.one)
        fixture.clear()
        fixture.command(.removeService(id(1)))
        #expect(fixture.waiting == ["UnregisterApplication"])
        #expect(fixture.objects.isEmpty)
        // The manager that removes a service is not informed of the subscriptions that end.
        #expect(fixture.events.isEmpty)
        let late = fixture.call(PeripheralRoleFixture.manager.appending("app1"), "ReadValue")
        #expect(fixture.answers[late]?.failure?.name == DBusError.Name.unknownObject)
    }

    @Test func anIncludedServiceIsInTheSameApplicationAndComesFirst() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(1))
        fixture.answer("RegisterApplication")
        add(&fixture, 2, PeripheralRoleFixture.small(11, included: [1]))
        #expect(fixture.waiting == ["UnregisterApplication", "RegisterApplication"])
        fixture.answer("RegisterApplication")
        let services = objects(fixture, .service)
        #expect(objects(fixture, .application).count == 1)
        #expect(services.count == 2)
        #expect(services[1].properties["Includes"] == .objectPaths([services[0].path]))
        fixture.clear()
        // The including service is removed alone; the removal of its object suffices.
        fixture.command(.removeService(id(11)))
        #expect(objects(fixture, .service).map(\.path) == [services[0].path])
        #expect(fixture.waiting == ["UnregisterApplication"])
    }

    @Test func theSubscribersOfAServiceThatMovesAreUnsubscribed() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(4, by: PeripheralRoleFixture.one)
        fixture.clear()
        add(&fixture, 2, PeripheralRoleFixture.small(21, included: [1]))
        #expect(
            fixture.events == [.unsubscribed(central: fixture.peer(PeripheralRoleFixture.one), attribute: id(4))])
    }

    @Test func whatHadToGoForARefusedServiceComesBack() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(1))
        fixture.answer("RegisterApplication")
        fixture.clear()
        add(&fixture, 2, PeripheralRoleFixture.small(11, included: [1]))
        fixture.refuse("RegisterApplication", "InvalidArguments")
        #expect(fixture.events.count == 1)
        fixture.answer("RegisterApplication")
        #expect(objects(fixture, .service).count == 1)
        #expect(fixture.path(2) != .root)
        #expect(fixture.events.count == 1)
    }

    @Test func anUnpublishedServiceCannotBeIncluded() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(11, included: [1]))
        guard case .operationFailed(_, let error)? = fixture.events.first else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .invalidParameters)
        #expect(fixture.waiting.isEmpty)
    }

    @Test func servicesSurviveAPowerCycle() {
        var fixture = PeripheralRoleFixture.serving()
        let before = fixture.objects
        fixture.setPowered(false)
        fixture.setPowered(true)
        #expect(fixture.objects == before)
        #expect(fixture.waiting.isEmpty)
        fixture.read(2, by: PeripheralRoleFixture.one)
        #expect(fixture.request != nil)
    }

    @Test func aRestartOfTheDaemonClearsWhatWasPublished() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.advertise()
        fixture.answer("RegisterAdvertisement")
        fixture.clear()
        fixture.receive(.phase(.lost))
        #expect(fixture.events == [.stateChanged(.resetting)])
        #expect(fixture.objects.isEmpty)
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([CentralRoleFixture.adapter: PeripheralRoleFixture.adapterObject()]))
        add(&fixture, 2, PeripheralRoleFixture.service())
        fixture.answer("RegisterApplication")
        #expect(fixture.events.last == .serviceAdded(operation: operation(2)))
    }

    @Test func aCallThatPowerOvertookIsAnsweredByTheState() {
        var fixture = PeripheralRoleFixture.poweredOn()
        add(&fixture, 1, PeripheralRoleFixture.small(1))
        add(&fixture, 2, PeripheralRoleFixture.small(11))
        fixture.setPowered(false)
        fixture.answer("RegisterApplication")
        #expect(fixture.events == [.stateChanged(.poweredOff)])
        // The facade withdraws unanswered operations.
        fixture.command(.removeService(id(1)))
        #expect(fixture.waiting == ["UnregisterApplication"])
        #expect(fixture.objects.isEmpty)
    }

    @Test func aManagerThatGoesTakesAllAlong() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.advertise()
        fixture.answer("RegisterAdvertisement")
        fixture.input(.invalidated(1))
        #expect(fixture.objects.isEmpty)
        #expect(Set(fixture.waiting) == ["UnregisterApplication", "UnregisterAdvertisement"])
    }
}
#endif
