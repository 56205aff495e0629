#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// Subscriptions, values, and services that change.
extension CentralRoleMachineLinkTests {
    // MARK: Notifications

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

    @Test mutating func aSubscriptionWhoseEndFailsIsStillOne() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, false)))
        fixture.refuse("StopNotify", "Failed", "Operation failed with ATT error: 0x03")
        fixture.clear()
        fixture.value([1])
        #expect(fixture.events == [.valueNotified(link: link, attribute: characteristic, value: Data([1]))])
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, false)))
        #expect(fixture.waiting == ["StopNotify"])
    }

    @Test mutating func theEndOfASubscriptionThatBluetoothdDoesNotHaveSucceeds() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .setNotifying(characteristic, false)))
        fixture.refuse("StopNotify", "Failed", "No notify session started")
        #expect(fixture.events.last == .response(link: link, operation: operation, .notifying(false)))
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, true)))
        #expect(fixture.waiting == ["StartNotify"])
    }

    @Test mutating func theEndOfASubscriptionIsAskedForAgainWhileBluetoothdIsBusy() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .setNotifying(characteristic, false)))
        fixture.refuse("StopNotify", "InProgress", "In Progress")
        fixture.fire(.link(peer, .attributeRetry))
        #expect(fixture.waiting == ["StopNotify"])
        fixture.answer("StopNotify")
        #expect(fixture.events.last == .response(link: link, operation: operation, .notifying(false)))
    }

    /// See https://github.com/hbldh/bleak/issues/1856.
    @Test mutating func S73_theEchoOfAReadIsNoNotification() {
        let (_, characteristic) = discover()
        subscribe(characteristic)
        let operation = next()
        fixture.command(.request(link: link, operation: operation, .read(characteristic)))
        // A notification of the same value, a different value, and the echo.
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
    @Test mutating func aSubscriptionThatThePeerRefusesIsAnErrorAndTheEndOfTheLinkIsReportedToo() {
        let (_, characteristic) = discover()
        fixture.clear()
        fixture.command(.request(link: link, operation: next(), .setNotifying(characteristic, true)))
        fixture.refuse("StartNotify", "Failed", "Operation failed with ATT error: 0x03")
        guard case .response(link, _, .failure(let error))? = fixture.events.last, error.attCode == 3 else {
            Issue.record("\(fixture.events)")
            return
        }
        dropLink()
        guard case .disconnected(link, _, _, false, _)? = fixture.events.last else {
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

    @Test mutating func S101_changesOfServicesAreReportedTogether() {
        let (service, characteristic) = discover()
        fixture.receive(.interfacesRemoved(Fixture.characteristic, ["org.bluez.GattCharacteristic1"]))
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
        let added = Fixture.path(Fixture.device.text + "/service0070")
        fixture.receive(
            .interfacesAdded(added, ["org.bluez.GattService1": ["UUID": .string("180f"), "Primary": .boolean(true)]]))
        #expect(fixture.events == [])
        fixture.fire(.link(peer, .serviceChanges))
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

    @Test mutating func S102_anAttributeThatComesBackIsAnotherOne() {
        let (service, _) = discover()
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
        let object = Fixture.attributes()[0]
        fixture.receive(.interfacesAdded(object.0, object.1))
        fixture.fire(.link(peer, .serviceChanges))
        guard case .servicesChanged(_, [service], let records)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(records.count == 1 && records.first?.id != service)
    }
}
#endif
