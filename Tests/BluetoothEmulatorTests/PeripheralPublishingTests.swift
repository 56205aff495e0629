import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Services and advertising of the peripheral role.
@Suite struct PeripheralPublishingTests {
    @Test func S106_servicesAreAddedInOrder() async throws {
        let fixture = PeripheralFixture(Emulator(configuration: .instant, time: .virtual))
        try await fixture.powerOn()
        let other = ServiceDefinition(id: attribute(9), uuid: "C0DF", included: [attribute(1)])
        let events = try await fixture.run(
            .addService(operation: op(1), service: PeripheralFixture.service),
            .addService(operation: op(2), service: other))
        #expect(events == [.serviceAdded(operation: op(1)), .serviceAdded(operation: op(2))])
    }

    @Test func S110_anIncludedServiceMustBePublishedFirst() async throws {
        let fixture = PeripheralFixture(Emulator(configuration: .instant, time: .virtual))
        try await fixture.powerOn()
        let service = ServiceDefinition(id: attribute(9), uuid: "C0DF", included: [attribute(1)])
        let events = try await fixture.run(.addService(operation: op(1), service: service))
        guard case .operationFailed(op(1), let error)? = events.first else { throw Unexpected("\(events)") }
        #expect(error.code == .invalidParameters)
    }

    @Test func S112_anIdentifierIsPublishedOnceAndEqualTypesAreSeparate() async throws {
        let pair = try await ConnectedPair()
        let again = try await pair.peripheral.run(.addService(operation: op(3), service: PeripheralFixture.service))
        guard case .operationFailed(op(3), _)? = again.first else { throw Unexpected("\(again)") }
        let twin = ServiceDefinition(id: attribute(50), uuid: "C0DE")
        #expect(try await pair.peripheral.run(.addService(operation: op(4), service: twin)).count == 1)
        let found = try await pair.central.attributes(pair.link)
        #expect(found.services.map(\.uuid) == ["C0DE", "C0DE"])
    }

    @Test func S113_S103_addingRemovingAndQuittingAreServiceChanged() async throws {
        let pair = try await ConnectedPair()
        let first = try pair.attributes.service("C0DE")
        var count = pair.central.events.count
        let extra = ServiceDefinition(id: attribute(50), uuid: "C0DF")
        try await pair.peripheral.run(.addService(operation: op(3), service: extra))
        guard case .servicesChanged(pair.link, [], let added)? = pair.central.events(from: count).first else {
            throw Unexpected("\(pair.central.events(from: count))")
        }
        #expect(added.map(\.uuid) == ["C0DF"])
        count = pair.central.events.count
        try await pair.peripheral.run(.removeService(attribute(1)))
        #expect(
            pair.central.events(from: count) == [.servicesChanged(link: pair.link, removed: [first], added: [])])
        count = pair.central.events.count
        pair.peripheral.peripheral.invalidate()
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: count) == [
                .servicesChanged(link: pair.link, removed: added.map(\.id), added: [])
            ])
    }

    @Test func S114_servicesAreServedAdvertisedOrNot() async throws {
        let pair = try await ConnectedPair()
        try await pair.peripheral.run(.stopAdvertising)
        let other = PeripheralFixture(pair.emulator, host: "peripheral 1")
        try await other.powerOn()
        try await other.run(
            .addService(operation: op(1), service: ServiceDefinition(id: attribute(1), uuid: "C0DF")))
        #expect(try await pair.central.attributes(pair.link).services.map(\.uuid) == ["C0DE", "C0DF"])
    }

    @Test func S104_aResetClearsServicesAndAdvertising() async throws {
        let pair = try await ConnectedPair()
        let host = try #require(pair.emulator.host(named: "peripheral 1"))
        let count = pair.peripheral.events.count
        host.reset(for: .seconds(10))
        try await pair.central.wait { event in
            if case .disconnected(pair.link, .timeout, _, _, _) = event { true } else { false }
        }
        try await pair.emulator.advance(by: .seconds(20))
        #expect(
            pair.peripheral.events(from: count) == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        let seen = pair.central.events.count
        pair.central.submit(.startScan(ScanParameters()))
        try await pair.emulator.advance(by: .seconds(5))
        #expect(pair.central.events(from: seen).isEmpty)
        // The database is empty: the same service can be added again.
        let events = try await pair.peripheral.run(.addService(operation: op(3), service: PeripheralFixture.service))
        #expect(events == [.serviceAdded(operation: op(3))])
    }

    @Test func S105_publishedServicesAndAdvertisingSurvivePowerOff() async throws {
        let pair = try await ConnectedPair(.default)
        try await pair.subscribe("C0D1")
        let host = try #require(pair.emulator.host(named: "peripheral 1"))
        let count = pair.peripheral.events.count
        host.setPower(false)
        try await pair.central.wait { event in
            if case .disconnected(pair.link, .remote, _, _, _) = event { true } else { false }
        }
        try await pair.emulator.advance(by: .seconds(10))
        #expect(pair.device.connectionCount == 0)
        host.setPower(true)
        // Advertising continues by itself.
        let link = try await pair.central.connect(pair.device)
        #expect(pair.peripheral.events(from: count) == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
        #expect(try await pair.central.attributes(link).services.map(\.uuid) == ["C0DE"])
        let again = try await pair.peripheral.run(.addService(operation: op(3), service: PeripheralFixture.service))
        guard case .operationFailed(op(3), _)? = again.first else { throw Unexpected("\(again)") }
    }

    @Test func S119_S121_advertisingIsHeardUntilItIsStopped() async throws {
        let central = Fixture()
        let peripheral = PeripheralFixture(central.emulator)
        try await peripheral.publish()
        try await central.powerOn()
        let peer = try await central.find(PeripheralFixture.device(central.emulator))
        let heard = central.events.compactMap { event -> Discovery? in
            if case .discovered(let discovery) = event { discovery } else { nil }
        }
        #expect(heard.first?.peer == peer)
        #expect(heard.first?.advertisement.localName == "Mine")
        #expect(heard.first?.advertisement.serviceUUIDs == ["C0DE"])
        #expect(heard.first?.advertisement.isConnectable == true)
        #expect(try await peripheral.run(.stopAdvertising).isEmpty)
        let count = central.events.count
        central.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await central.emulator.advance(by: .seconds(10))
        #expect(central.events(from: count).isEmpty)
    }

    @Test func anAdvertisementThatIsNotConnectableIsHeardAsSuch() async throws {
        let central = Fixture()
        let peripheral = PeripheralFixture(central.emulator)
        try await peripheral.powerOn()
        try await peripheral.run(
            .startAdvertising(
                operation: op(1), advertisement: Advertisement(localName: "Mine", isConnectable: false)))
        try await central.powerOn()
        _ = try await central.find(PeripheralFixture.device(central.emulator))
        let heard = central.events.compactMap { event -> Bool? in
            if case .discovered(let discovery) = event { discovery.advertisement.isConnectable } else { nil }
        }
        #expect(heard.first == false)
    }

    @Test func S122_aNameThatDoesNotFitComesWithTheScanResponse() async throws {
        let central = Fixture()
        let peripheral = PeripheralFixture(central.emulator)
        try await peripheral.powerOn()
        let long = Advertisement(
            localName: "A name", serviceUUIDs: ["0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01", "180D", "180F"])
        try await peripheral.run(.startAdvertising(operation: op(1), advertisement: long))
        try await central.powerOn()
        central.submit(.startScan(ScanParameters()))
        try await central.emulator.advance(by: .seconds(1))
        let names = central.events.compactMap { event -> String?? in
            if case .discovered(let discovery) = event { .some(discovery.advertisement.localName) } else { nil }
        }
        #expect(names == [nil, "A name"])
    }

    @Test func S123_advertisingGoesOnAfterACentralConnects() async throws {
        let pair = try await ConnectedPair()
        let host = try pair.emulator.add(HostDescription(name: "second"))
        let second = Fixture(host: host.name, emulator: pair.emulator)
        try await second.powerOn()
        let peer = try await second.find(pair.device, host: "second")
        second.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await second.wait { event in
            if case .connected(peer, _, _, _) = event { true } else { false }
        }
        #expect(pair.device.connectionCount == 2)
        try await pair.emulator.advance(by: .seconds(86_400))
        let count = second.events.count
        second.submit(.startScan(ScanParameters()))
        try await pair.emulator.advance(by: .seconds(1))
        #expect(second.events.count == count + 1)
    }

    @Test func advertisingSetsRunOut() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(HostDescription(name: "phone"))
        let fixtures = (0...emulator.configuration.maximumAdvertisingSets).map { _ in
            PeripheralFixture(emulator, host: "phone")
        }
        for fixture in fixtures { try await fixture.powerOn() }
        let start = PeripheralCommand.startAdvertising(
            operation: op(1), advertisement: PeripheralFixture.advertisement)
        for fixture in fixtures.dropLast() {
            #expect(try await fixture.run(start) == [.advertisingStarted(operation: op(1))])
        }
        let last = try #require(fixtures.last)
        let events = try await last.run(start)
        guard case .operationFailed(op(1), let error)? = events.first else { throw Unexpected("\(events)") }
        #expect(error.code == .outOfSpace)
        fixtures.first?.peripheral.invalidate()
        #expect(try await last.run(start) == [.advertisingStarted(operation: op(1))])
    }

    @Test func managersOfOneHostAreOneDeviceAndDoNotHearThemselves() async throws {
        let central = Fixture()
        let first = PeripheralFixture(central.emulator, host: "default")
        let second = PeripheralFixture(central.emulator, host: "default")
        try await first.publish()
        try await second.publish()
        try await central.powerOn()
        central.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await central.emulator.advance(by: .seconds(5))
        #expect(central.events == [.stateChanged(.poweredOn)])
        let host = try central.emulator.add(HostDescription(name: "other"))
        let other = Fixture(host: host.name, emulator: central.emulator)
        try await other.powerOn()
        other.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await central.emulator.advance(by: .seconds(5))
        let peers = Set(
            other.events.compactMap { event -> PeerID? in
                if case .discovered(let discovery) = event { discovery.peer } else { nil }
            })
        #expect(peers.count == 1)
    }

    @Test func theDeviceNameOfAHostWithoutANameIsWhatItsManagerAdvertises() async throws {
        let pair = try await ConnectedPair()
        let names = pair.central.events.compactMap { event -> String? in
            switch event {
            case .discovered(let discovery): discovery.name
            case .nameChanged(_, let name, _): name
            default: nil
            }
        }
        #expect(Set(names) == ["Mine"])
        // The next manager of that host advertises no name, so the GAP Device Name is the host's again.
        _ = try await pair.central.run(.disconnect(peer: try #require(pair.device.identifier())))
        pair.peripheral.peripheral.invalidate()
        let next = PeripheralFixture(pair.emulator)
        try await next.powerOn()
        try await next.run(.startAdvertising(operation: op(1), advertisement: Advertisement(serviceUUIDs: ["C0DE"])))
        let fixture = Fixture(emulator: pair.emulator)
        try await fixture.powerOn()
        _ = try await fixture.connect(try PeripheralFixture.device(pair.emulator))
        #expect(
            fixture.events.contains { event in
                if case .nameChanged(_, "peripheral 1", .gap) = event { true } else { false }
            })
    }

    @Test func aManagerWithoutAHostGetsOneThatServesTheNextWhenItIsGone() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let first = PeripheralFixture(emulator)
        let second = PeripheralFixture(emulator)
        #expect(emulator.hosts.map(\.name) == ["default", "peripheral 1", "peripheral 2"])
        #expect(emulator.devices.isEmpty)
        first.peripheral.invalidate()
        let third = PeripheralFixture(emulator)
        #expect(emulator.hosts.count == 3)
        emulator.host.setAuthorization(.denied)
        try await emulator.runUntilIdle()
        third.peripheral.activate(third.sink)
        second.peripheral.activate(second.sink)
        try await emulator.runUntilIdle()
        #expect(second.events == [.stateChanged(.unauthorized)])
        #expect(third.events == [.stateChanged(.unauthorized)])
    }
}
