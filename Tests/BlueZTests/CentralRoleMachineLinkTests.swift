#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineLinkTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private var link: LinkID
    private var operations: UInt64 = 100

    init() { (fixture, peer, link) = Fixture.connected() }

    private mutating func next() -> OperationID {
        operations += 1
        return OperationID(rawValue: operations)
    }

    /// Discovers all, and gives the identifiers of service and characteristic.
    private mutating func discover() -> (service: AttributeID, characteristic: AttributeID) {
        fixture.command(.request(link: link, operation: next(), .discoverServices(nil)))
        var service = AttributeID(rawValue: 0)
        for case .response(_, _, .services(let records)) in fixture.events { service = records.first?.id ?? service }
        fixture.command(.request(link: link, operation: next(), .discoverCharacteristics(of: service, nil)))
        var characteristic = AttributeID(rawValue: 0)
        for case .response(_, _, .characteristics(let records)) in fixture.events {
            characteristic = records.first?.id ?? characteristic
        }
        fixture.clear()
        return (service, characteristic)
    }

    private mutating func subscribe(_ attribute: AttributeID) {
        fixture.command(.request(link: link, operation: next(), .setNotifying(attribute, true)))
        fixture.answer("StartNotify")
        fixture.clear()
    }

    private mutating func dropLink() {
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.powerLoss(peer))
    }

    // MARK: Discovery

    /// Proves S54.
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
        // The declaration is at 0x11, the value behind it.
        #expect(characteristics.map(\.handle) == [0x12])
    }

    /// Proves S55.
    @Test mutating func S55_onlyWhatIsAskedForIsFound() {
        fixture.command(.request(link: link, operation: next(), .discoverServices([BluetoothUUID(0x180F)])))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(services == [])
    }

    /// Proves S58.
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
        fixture.fire(.awaitingServices(peer))
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
        fixture.fire(.awaitingServices(peer))
        #expect(fixture.refreshes == 1 && fixture.events == [])
        fixture.fire(.awaitingServices(peer))
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
        fixture.fire(.resolution(peer))
        #expect(fixture.waiting.contains("Disconnect"))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        guard case .disconnected(_, .timeout, _, _)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    /// Proves S64.
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

    /// Proves S66.
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
        #expect(call?.body == [.bytes([1]), .properties(["type": .string("request")])])
        #expect(
            fixture.events == [
                .response(link: link, operation: first, .value(Data([7]))),
                .response(link: link, operation: second, .written),
                .response(link: link, operation: third, .services([])),
            ])
    }

    /// Proves S84.
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
        fixture.fire(.attributeRetry(peer))
        fixture.answer("ReadValue", with: .success([.bytes([1])]))
        #expect(fixture.events == [.response(link: link, operation: operation, .value(Data([1])))])
    }

    /// Proves S69.
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

    /// bluetoothd fails what is pending with 0x0E once the link is down.
    @Test mutating func operationsOfALostLinkAreAnsweredByItsEndAlone() {
        let (_, characteristic) = discover()
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        fixture.command(.request(link: link, operation: next(), .write(characteristic, Data())))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.refuse("ReadValue", "Failed", "Operation failed with ATT error: 0x0e")
        fixture.fire(.powerLoss(peer))
        #expect(
            fixture.events == [.disconnected(link: link, reason: .unknown, at: Fixture.date, isReconnecting: false)])
        #expect(fixture.waiting == [])
    }

    @Test mutating func anErrorThatAnnouncesTheEndWaitsForItAndIsToldIfItDoesNotCome() {
        let (_, characteristic) = discover()
        let (first, second) = (next(), next())
        fixture.command(.request(link: link, operation: first, .read(characteristic)))
        fixture.command(.request(link: link, operation: second, .read(characteristic)))
        fixture.refuse("ReadValue", "Failed", "Not connected")
        #expect(fixture.events == [] && fixture.waiting == [])
        fixture.fire(.linkLoss(peer))
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

    // MARK: Notifications

    /// Proves S87.
    @Test mutating func S87_aSubscriptionIsAnsweredAndValuesAreNotified() {
        let (_, characteristic) = discover()
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .setNotifying(characteristic, true)))
        fixture.answer("StartNotify")
        fixture.value([1])
        fixture.value([1])
        #expect(
            fixture.events == [
                .response(link: link, operation: operation, .notifying(true)),
                .valueNotified(link: link, attribute: characteristic, value: Data([1])),
                .valueNotified(link: link, attribute: characteristic, value: Data([1])),
            ])
        let end = next()
        fixture.command(.request(link: link, operation: end, .setNotifying(characteristic, false)))
        fixture.answer("StopNotify")
        fixture.value([2])
        #expect(fixture.events.last == .response(link: link, operation: end, .notifying(false)))
    }

    @Test mutating func aValueWithoutASubscriptionIsSomebodyElses() {
        _ = discover()
        fixture.value([1])
        #expect(fixture.events == [])
    }

    @Test mutating func aSubscriptionThatFailsIsNone() {
        let (_, characteristic) = discover()
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, true)))
        fixture.refuse("StartNotify", "NotPermitted", "Notify acquired")
        fixture.value([1])
        #expect(fixture.events.count == 1)
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, true)))
        #expect(fixture.waiting == ["StartNotify"])
    }

    /// See https://github.com/hbldh/bleak/issues/1856.
    ///
    /// Proves S73.
    @Test mutating func S73_theEchoOfAReadIsNoNotification() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .read(characteristic)))
        // A notification of the same value, another one, and the echo.
        for value in [[5], [6], [5]] as [[UInt8]] { fixture.value(value) }
        func notified(_ value: UInt8) -> CentralEvent {
            .valueNotified(link: link, attribute: characteristic, value: Data([value]))
        }
        #expect(fixture.events == [notified(5), notified(6)], "only the last value may be the echo")
        fixture.answer("ReadValue", with: .success([.bytes([5])]))
        fixture.value([5])
        #expect(
            fixture.events == [
                notified(5), notified(6), .response(link: link, operation: operation, .value(Data([5]))), notified(5),
            ])
    }

    @Test mutating func aReadThatFailsHoldsNothingBack() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        fixture.value([6])
        fixture.refuse("ReadValue", "NotPermitted", "Read not permitted")
        #expect(fixture.events.first == .valueNotified(link: link, attribute: characteristic, value: Data([6])))
        #expect(fixture.events.count == 2)
    }

    /// See https://github.com/hbldh/bleak/issues/472.
    @Test mutating func subscriptionsEndWithTheirLink() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        dropLink()
        #expect(fixture.waiting == ["StopNotify"])
        fixture.answer("StopNotify")
        fixture.command(.connect(peer: peer, operation: next(), options: ConnectOptions()))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.answer("Connect")
        fixture.clear()
        fixture.value([1])
        #expect(fixture.events == [])
    }

    /// See https://github.com/simpleble/simpleble/issues/490.
    @Test mutating func attributesOfAnEarlierLinkAreGoneAndAreFoundAndSubscribedToAnew() {
        let (_, old) = discover()
        subscribe(old)
        dropLink()
        fixture.answer("StopNotify")
        fixture.command(.connect(peer: peer, operation: next(), options: ConnectOptions()))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.set(Fixture.device, "org.bluez.Device1", ["ServicesResolved": .boolean(true)])
        fixture.answer("Connect")
        for case .connected(_, let id, _, _) in fixture.events { link = id }
        fixture.clear()
        fixture.command(.request(link: link, operation: next(), .setNotifying(old, true)))
        guard case .response(link, _, .failure(let error))? = fixture.events.last, error.code == .invalidHandle else {
            Issue.record("\(fixture.events)")
            return
        }
        let (_, new) = discover()
        subscribe(new)
        fixture.value([1])
        #expect(fixture.events.last == .valueNotified(link: link, attribute: new, value: Data([1])))
    }

    /// See https://github.com/bluez/bluez/issues/2383.
    @Test mutating func aSubscriptionThatThePeerRefusesIsAnErrorAndTheEndOfTheLinkIsToldToo() {
        let (_, characteristic) = discover()
        fixture.clear()
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, true)))
        fixture.refuse("StartNotify", "Failed", "Operation failed with ATT error: 0x03")
        guard case .response(link, _, .failure(let error))? = fixture.events.last, error.attCode == 3 else {
            Issue.record("\(fixture.events)")
            return
        }
        dropLink()
        guard case .disconnected(link, _, _, false)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    @Test mutating func aCancelledLinkEndsItsSubscriptionsFirst() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.waiting == ["StopNotify", "Disconnect"])
    }

    @Test mutating func twoManagersShareASubscription() {
        let (_, characteristic) = discover()
        fixture.input(.activated(2))
        fixture.command(.connect(peer: peer, operation: next(), options: ConnectOptions()), from: 2)
        var other = LinkID(rawValue: 0)
        for case .connected(_, let id, _, _) in fixture.events { other = id }
        subscribe(characteristic)
        fixture.command(
            .request(link: other, operation: next(), .setNotifying(characteristic, true)), from: 2)
        #expect(fixture.waiting == [])
        fixture.clear()
        fixture.value([1])
        #expect(fixture.events.count == 2)
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.waiting == [])
        fixture.command(.disconnect(peer: peer), from: 2)
        #expect(fixture.waiting == ["StopNotify", "Disconnect"])
    }

    // MARK: Service changes

    /// Proves S101.
    @Test mutating func S101_changesOfServicesAreToldTogether() {
        let (service, characteristic) = discover()
        fixture.receive(.interfacesRemoved(Fixture.characteristic, ["org.bluez.GattCharacteristic1"]))
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
        let added = Fixture.path(Fixture.device.text + "/service0070")
        fixture.receive(
            .interfacesAdded(added, ["org.bluez.GattService1": ["UUID": .string("180f"), "Primary": .boolean(true)]]))
        #expect(fixture.events == [])
        fixture.fire(.serviceChanges(peer))
        guard case .servicesChanged(link, [service], let records)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(records.map(\.uuid.text) == ["180F"])
        fixture.command(.request(link: link, operation: next(), .read(characteristic)))
        guard case .response(_, _, .failure)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    /// Proves S102.
    @Test mutating func S102_anAttributeThatComesBackIsAnotherOne() {
        let (service, _) = discover()
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
        let object = Fixture.attributes()[0]
        fixture.receive(.interfacesAdded(object.0, object.1))
        fixture.fire(.serviceChanges(peer))
        guard case .servicesChanged(_, [service], let records)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(records.count == 1 && records.first?.id != service)
    }
}
#endif
