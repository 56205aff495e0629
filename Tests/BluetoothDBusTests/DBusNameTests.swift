#if os(Linux)
import BluetoothDBus
import Testing

/// The names that a bus allows.
struct DBusNameTests {
    @Test(arguments: ["org.bluez", "a.b", "org.bluez.Device1", "_a._1"])
    func elementsBetweenDotsAreAnInterface(_ text: String) {
        #expect(DBusName.isInterface(text))
        #expect(DBusName.isBus(text))
    }

    @Test(arguments: ["", "org", ".org", "org.", "org..bluez", "org.1a", "1.a", "org.bl ez", "org.blüez", "."])
    func otherTextIsNoName(_ text: String) {
        #expect(!DBusName.isInterface(text))
        #expect(!DBusName.isBus(text))
    }

    @Test func onlyBusNamesHaveHyphensAndOnlyUniqueOnesBeginWithDigits() {
        #expect(DBusName.isBus("org.my-app"))
        #expect(!DBusName.isInterface("org.my-app"))
        #expect(DBusName.isBus(":1.42"))
        #expect(!DBusName.isInterface(":1.42"))
        #expect(!DBusName.isBus(":1"))
        #expect(!DBusName.isBus(":"))
    }

    @Test func aNameHasAtMost255Bytes() {
        let name = "a." + String(repeating: "b", count: 253)
        #expect(DBusName.isBus(name))
        #expect(!DBusName.isBus(name + "b"))
    }

    @Test func aPathIsBelowItsAncestorsAndNotBelowOthers() throws {
        let device = try #require(ObjectPath("/org/bluez/hci1/dev"))
        for ancestor in ["/", "/org", "/org/bluez/hci1"] { #expect(device.isBelow(try #require(ObjectPath(ancestor)))) }
        for other in ["/org/bluez/hci", "/org/bluez/hci1/dev", "/org/bluez/hci1/dev/a", "/com"] {
            #expect(!device.isBelow(try #require(ObjectPath(other))))
        }
    }
}
#endif
