#if os(Linux)
import Testing

@testable import BluetoothDBus

@Suite struct PendingCallsTests {
    private typealias Calls = PendingCalls<Int>

    private func entry(_ number: Int, to destination: String = "org.bluez", until deadline: UInt64 = 100) -> Calls.Entry
    {
        Calls.Entry(destination: destination, deadline: deadline, completion: number)
    }

    @Test func aReplyIsTakenOnce() {
        var calls = Calls()
        let serial = calls.nextSerial()
        _ = calls.insert(entry(1), serial: serial)
        #expect(calls.removeCall(serial, from: ":1.2")?.completion == 1)
        #expect(calls.removeCall(serial, from: ":1.2") == nil)
    }

    @Test func aStrangersReplyIsNotTaken() {
        var calls = Calls()
        let serial = calls.nextSerial()
        _ = calls.insert(entry(1, to: ":1.5"), serial: serial)
        #expect(calls.removeCall(serial, from: ":1.6") == nil)
        #expect(calls.removeCall(serial, from: nil) == nil)
        #expect(calls.removeCall(serial, from: ":1.5")?.completion == 1)
    }

    /// The bus answers for a name that is gone.
    @Test func theBusMayReplyInPlaceOfTheCallee() {
        var calls = Calls()
        let serial = calls.nextSerial()
        _ = calls.insert(entry(1, to: ":1.5"), serial: serial)
        #expect(calls.removeCall(serial, from: "org.freedesktop.DBus")?.completion == 1)
    }

    @Test func onlyAnEarlierDeadlineMovesTheSweep() {
        var calls = Calls()
        #expect(calls.insert(entry(1, until: 100), serial: 1) == 100)
        #expect(calls.insert(entry(2, until: 200), serial: 2) == nil)
        #expect(calls.insert(entry(3, until: 50), serial: 3) == 50)
    }

    @Test func theSweepTakesWhatIsDueInOrderAndSaysWhenToComeAgain() {
        var calls = Calls()
        for (serial, deadline) in [(1, 10), (2, 30), (3, 10)] {
            _ = calls.insert(entry(serial, until: UInt64(deadline)), serial: UInt32(serial))
        }
        let first = calls.expire(now: 10)
        #expect(first.expired.map(\.completion) == [1, 3])
        #expect(first.nextSweep == 30)
        let second = calls.expire(now: 30)
        #expect(second.expired.map(\.completion) == [2])
        #expect(second.nextSweep == nil)
        #expect(calls.insert(entry(4, until: 90), serial: 4) == 90)
    }

    @Test func aSerialInUseIsNotGivenAgain() {
        var calls = Calls()
        #expect(calls.nextSerial() == 1)
        _ = calls.insert(entry(1), serial: 2)
        #expect(calls.nextSerial() == 3)
    }

    @Test func matchRulesQuoteTheirValues() {
        let rule = DBusMatchRule(
            sender: "org.bluez", pathNamespace: Samples.path, interface: "a.b", member: "M", argument0: "it's")
        #expect(
            rule.text == "type='signal',sender='org.bluez',path_namespace='/org/bluez/hci0',"
                + "interface='a.b',member='M',arg0='it'\\''s'")
    }

    @Test func matchRulesCompareWhatTheySay() throws {
        let message = try DBusMessage.signal(
            path: Samples.path, interface: "a.b", member: "M", [.objectPath(Samples.path)])
        #expect(DBusMatchRule().matches(message))
        #expect(DBusMatchRule(interface: "a.b", member: "M").matches(message))
        #expect(!DBusMatchRule(interface: "a.c").matches(message))
        #expect(!DBusMatchRule(member: "N").matches(message))
        #expect(DBusMatchRule(pathNamespace: ObjectPath("/org/bluez")).matches(message))
        #expect(!DBusMatchRule(pathNamespace: ObjectPath("/org/blue")).matches(message))
        #expect(DBusMatchRule(argument0Path: "/org/bluez/").matches(message))
        #expect(!DBusMatchRule(argument0Path: "/org/bluez").matches(message))
        #expect(!DBusMatchRule(argument0: Samples.path.text).matches(message))
        #expect(!DBusMatchRule(sender: ":1.1").matches(message))
    }
}
#endif
