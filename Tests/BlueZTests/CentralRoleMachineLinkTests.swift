#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineLinkTests {
    typealias Fixture = CentralRoleFixture
    var fixture: CentralRoleFixture
    let peer: PeerID
    var link: LinkID
    var operations: UInt64 = 100

    init() { (fixture, peer, link) = Fixture.connected() }

    mutating func next() -> OperationID {
        operations += 1
        return OperationID(rawValue: operations)
    }

    mutating func discover() -> (service: AttributeID, characteristic: AttributeID) { fixture.discover(on: link) }

    mutating func subscribe(_ attribute: AttributeID) {
        fixture.command(.request(link: link, operation: next(), .setNotifying(attribute, true)))
        fixture.answer("StartNotify")
        fixture.clear()
    }

    mutating func dropLink() {
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
    }

    // MARK: Discovery

    @Test mutating func S54_servicesAndCharacteristicsAreThoseOfTheTree() {
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .discoverServices(nil)))
        guard case .response(link, operation, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services.map(\.uuid.text) == ["180D"])
        #expect(services.map(\.handle) == [0x10])
        let second = next()
        fixture.command(
            .request(link: link, operation: second, .discoverCharacteristics(of: services[0].id, nil)))
        guard case .response(link, second, .characteristics(let characteristics))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(characteristics.map(\.properties) == [[.read, .write, .writeWithoutResponse, .notify]])
        // The declaration is at 0x11, and the value follows it.
        #expect(characteristics.map(\.handle) == [0x12])
    }

    @Test mutating func S55_onlyWhatIsAskedForIsFound() {
        fixture.command(.request(link: link, operation: next(), .discoverServices([BluetoothUUID(0x180F)])))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services == [])
    }

    @Test mutating func S58_theHostsOwnServicesAndSecondaryOnesAreNotFound() {
        for (handle, uuid, isPrimary) in [("0001", "1801", true), ("0005", "1800", true), ("0060", "180a", false)] {
            fixture.receive(
                .interfacesAdded(
                    Fixture.path(Fixture.device.text + "/service" + handle),
                    ["org.bluez.GattService1": ["UUID": .string(uuid), "Primary": .boolean(isPrimary)]]))
        }
        fixture.command(.request(link: link, operation: next(), .discoverServices(nil)))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services.map(\.uuid.text) == ["180D"])
    }

    @Test mutating func includedServicesAreFoundByTheirPaths() {
        let included = Fixture.path(Fixture.device.text + "/service0060")
        fixture.receive(
            .interfacesAdded(
                included, ["org.bluez.GattService1": ["UUID": .string("180a"), "Primary": .boolean(false)]]))
        fixture.set(
            Fixture.service, "org.bluez.GattService1",
            ["Includes": .objectPaths([included, Fixture.path("/nowhere")])])
        let (service, _) = discover()
        fixture.command(.request(link: link, operation: next(), .discoverIncludedServices(of: service, nil)))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services.map(\.uuid.text) == ["180A"] && services.map(\.isPrimary) == [false])
    }

    @Test mutating func discoveryWaitsUntilServicesAreResolved() {
        dropLink()
        fixture.command(.connect(peer: peer, operation: next(), options: ConnectOptions()))
        fixture.set(
            Fixture.device, "org.bluez.Device1", ["ServicesResolved": .boolean(false), "Connected": .boolean(true)])
        fixture.answer("Connect")
        fixture.clear()
        let again = LinkID(rawValue: 2)
        fixture.command(.request(link: again, operation: next(), .discoverServices(nil)))
        #expect(fixture.events == [])
        fixture.set(Fixture.device, "org.bluez.Device1", ["ServicesResolved": .boolean(true)])
        #expect(fixture.events.count == 1)
    }

    /// See https://github.com/bluez/bluez/issues/1489.
    @Test mutating func servicesThatComeAfterTheyWereResolvedAreWaitedFor() {
        (fixture, _, _) = Fixture.connected(objects: [])
        fixture.command(.request(link: link, operation: next(), .discoverServices(nil)))
        #expect(fixture.events == [])
        fixture.fire(.link(peer, .awaitingServices))
        #expect(fixture.refreshes == 1)
        var objects = [
            Fixture.adapter: Fixture.adapterObject(),
            Fixture.device: Fixture.deviceObject(["Connected": .boolean(true), "ServicesResolved": .boolean(true)]),
        ]
        for (path, object) in Fixture.attributes() { objects[path] = object }
        fixture.receive(.snapshot(objects))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services.map(\.uuid.text) == ["180D"])
    }

    @Test mutating func aDaemonThatNeverShowsItsObjectsHasThoseThatAreKnown() {
        (fixture, _, _) = Fixture.connected(objects: [])
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .discoverServices(nil)))
        fixture.fire(.link(peer, .awaitingServices))
        #expect(fixture.refreshes == 1 && fixture.events == [])
        fixture.fire(.link(peer, .awaitingServices))
        #expect(fixture.events == [.response(link: link, operation: operation, .services([]))])
        #expect(fixture.refreshes == 1)
    }

    /// See https://github.com/hbldh/bleak/issues/1841.
    @Test mutating func servicesThatAreNeverResolvedEndTheLink() {
        dropLink()
        fixture.command(.connect(peer: peer, operation: next(), options: ConnectOptions()))
        fixture.set(
            Fixture.device, "org.bluez.Device1", ["ServicesResolved": .boolean(false), "Connected": .boolean(true)])
        fixture.answer("Connect")
        fixture.command(.request(link: LinkID(rawValue: 2), operation: next(), .discoverServices(nil)))
        fixture.clear()
        fixture.fire(.link(peer, .resolution))
        #expect(fixture.waiting.contains("Disconnect"))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        guard case .disconnected(_, .timeout, _, _, _)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    @Test mutating func S64_descriptorsAreThoseOfTheCharacteristic() {
        fixture.receive(
            .interfacesAdded(
                Fixture.path(Fixture.characteristic.text + "/desc0013"),
                ["org.bluez.GattDescriptor1": ["UUID": .string("00002902-0000-1000-8000-00805f9b34fb")]]))
        let (_, characteristic) = discover()
        fixture.command(.request(link: link, operation: next(), .discoverDescriptors(of: characteristic)))
        guard case .response(_, _, .descriptors(let descriptors))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(descriptors.map(\.uuid.text) == ["2902"] && descriptors.map(\.handle) == [0x13])
        fixture.command(.request(link: link, operation: next(), .read(descriptors[0].id)))
        #expect(fixture.calls.last?.call.interface == "org.bluez.GattDescriptor1")
    }

    @Test mutating func theMTUIsThatOfTheCharacteristics() {
        fixture.set(Fixture.characteristic, "org.bluez.GattCharacteristic1", ["MTU": .uint16(247)])
        fixture.set(Fixture.characteristic, "org.bluez.GattCharacteristic1", ["MTU": .uint16(247)])
        #expect(fixture.events == [.mtuChanged(link: link, mtu: 247)])
    }

    // MARK: Operations

    @Test mutating func S66_operationsAreMadeOneAtATimeAndAnsweredInOrder() {
        let (_, characteristic) = discover()
        let (first, second, third) = (next(), next(), next())
        fixture.command(.request(link: link, operation: first, .read(characteristic)))
        fixture.command(.request(link: link, operation: second, .write(characteristic, Data([1]))))
        fixture.command(.request(link: link, operation: third, .discoverServices([])))
        #expect(fixture.waiting == ["ReadValue"])
        fixture.answer("ReadValue", with: .success([.bytes([7])]))
        #expect(fixture.waiting == ["WriteValue"])
        let call = fixture.answer("WriteValue")
        #expect(call?.arguments == [.bytes([1]), .properties(["type": .string("request")])])
        #expect(
            fixture.events == [
                .response(link: link, operation: first, .value(Data([7]))),
                .response(link: link, operation: second, .written),
                .response(link: link, operation: third, .services([])),
            ])
    }

    @Test mutating func aWriteFromAnOffsetNamesItsOffset() {
        let (_, characteristic) = discover()
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .write(characteristic, Data([1]), offset: 3)))
        let call = fixture.answer("WriteValue")
        #expect(call?.arguments == [.bytes([1]), .properties(["type": .string("request"), "offset": .uint16(3)])])
        #expect(fixture.events == [.response(link: link, operation: operation, .written)])
    }

    @Test mutating func S84_writeCommandsGoOutTogetherAndGiveTheirCreditsBack() {
        let (_, characteristic) = discover()
        for byte in UInt8(1)...3 {
            fixture.command(.writeCommand(link: link, attribute: characteristic, value: Data([byte])))
        }
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        #expect(fixture.waiting == ["WriteValue", "WriteValue", "WriteValue"])
        #expect(fixture.calls.first?.call.body.last == .properties(["type": .string("command")]))
        fixture.answer("WriteValue")
        fixture.refuse("WriteValue", "Failed", "Failed to initiate write")
        #expect(fixture.waiting == ["WriteValue"])
        fixture.answer("WriteValue")
        #expect(fixture.events == Array(repeating: .writeCredits(link: link, count: 1), count: 3))
        #expect(fixture.waiting == ["ReadValue"])
    }

    /// See https://github.com/hbldh/bleak/issues/1282.
    @Test mutating func aBusyAttributeIsTriedAgain() {
        let (_, characteristic) = discover()
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .read(characteristic)))
        fixture.refuse("ReadValue", "InProgress", "Operation already in progress")
        #expect(fixture.waiting == [])
        fixture.fire(.link(peer, .attributeRetry))
        fixture.answer("ReadValue", with: .success([.bytes([1])]))
        #expect(fixture.events == [.response(link: link, operation: operation, .value(Data([1])))])
    }

    @Test mutating func S69_aRefusalCarriesTheATTCode() {
        let (_, characteristic) = discover()
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .read(characteristic)))
        fixture.refuse("ReadValue", "Failed", "Operation failed with ATT error: 0x85")
        guard case .response(link, operation, .failure(let error))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.attCode == 0x85)
    }

    @Test mutating func aReplyOfTheWrongShapeIsAnErrorOfThatOperation() {
        let (_, characteristic) = discover()
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        fixture.answer("ReadValue", with: .success([.string("no bytes")]))
        guard case .response(_, _, .failure)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    /// bluetoothd fails pending calls with 0x0E once the link is down.
    @Test mutating func operationsOfALostLinkAreAnsweredByItsEndAlone() {
        let (_, characteristic) = discover()
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        fixture.command(.request(link: link, operation: next(), .write(characteristic, Data())))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.refuse("ReadValue", "Failed", "Operation failed with ATT error: 0x0e")
        fixture.fire(.link(peer, .powerLoss))
        #expect(
            fixture.events == [.disconnected(link: link, reason: .unknown, at: Fixture.date, isReconnecting: false)])
        #expect(fixture.waiting == [])
    }

    @Test mutating func anErrorThatAnnouncesTheEndWaitsForItAndIsReportedIfItDoesNotCome() {
        let (_, characteristic) = discover()
        let (first, second) = (next(), next())
        fixture.command(.request(link: link, operation: first, .read(characteristic)))
        fixture.command(.request(link: link, operation: second, .read(characteristic)))
        fixture.refuse("ReadValue", "Failed", "Not connected")
        #expect(fixture.events == [] && fixture.waiting == [])
        fixture.fire(.link(peer, .linkLoss))
        guard case .response(link, first, .failure(let error))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.code == .notConnected)
        #expect(fixture.waiting == ["ReadValue"])
    }

    @Test mutating func aCommandForADeadLinkIsDroppedInSilence() {
        let (_, characteristic) = discover()
        dropLink()
        fixture.clear()
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        fixture.command(.writeCommand(link: LinkID(rawValue: 99), attribute: characteristic, value: Data()))
        #expect(fixture.events == [] && fixture.waiting == [])
    }

    @Test mutating func anAttributeThatIsGoneIsAnInvalidHandle() {
        fixture.command(.request(link: link, operation: next(), .read(AttributeID(rawValue: 4711))))
        guard case .response(_, _, .failure(let error))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.code == .invalidHandle)
    }
}
#endif
