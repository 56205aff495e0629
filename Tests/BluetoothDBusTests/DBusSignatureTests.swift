#if os(Linux)
import Testing

@testable import BluetoothDBus

@Suite struct DBusSignatureTests {
    @Test(arguments: ["", "y", "sa{sv}as", "a{oa{sa{sv}}}", "(i(sv)ay)", "aaaas", "ha{y(ns)}"])
    func aValidSignatureKeepsItsText(text: String) throws {
        let signature = try #require(DBusSignature(text))
        #expect(signature.text == text)
        #expect(signature.types.map(\.text).joined() == text)
    }

    @Test(arguments: [
        "a", "(", ")", "()", "(i", "a{s}", "a{sv", "a{vs}", "a{asv}", "{sv}", "a{svi}", "z", "s a", "r", "e",
    ])
    func anInvalidSignatureIsRefused(text: String) {
        #expect(DBusSignature(text) == nil)
    }

    @Test func arraysNestAtMost32Deep() {
        #expect(DBusSignature(String(repeating: "a", count: 32) + "y") != nil)
        #expect(DBusSignature(String(repeating: "a", count: 33) + "y") == nil)
    }

    @Test func structuresNestAtMost32Deep() {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "y" + String(repeating: ")", count: depth)
        }
        #expect(DBusSignature(nested(32)) != nil)
        #expect(DBusSignature(nested(33)) == nil)
    }

    @Test func aSignatureHasAtMost255Bytes() {
        #expect(DBusSignature(String(repeating: "y", count: 255)) != nil)
        #expect(DBusSignature(String(repeating: "y", count: 256)) == nil)
    }

    @Test(arguments: ["/", "/org", "/org/bluez/hci0/dev_00_11", "/_"])
    func aValidPathKeepsItsText(text: String) {
        #expect(ObjectPath(text)?.text == text)
    }

    @Test(arguments: ["", "org", "/org/", "//", "/org//bluez", "/org/blue-z", "/é", "/a\0b"])
    func anInvalidPathIsRefused(text: String) {
        #expect(ObjectPath(text) == nil)
    }

    /// A prefix test would find hci10 below hci1.
    @Test func aPathIsBelowAnotherOnlyAtASlash() throws {
        let adapter = try #require(ObjectPath("/org/bluez/hci1"))
        #expect(try #require(ObjectPath("/org/bluez/hci1/dev_00")).isBelow(adapter))
        #expect(try !#require(ObjectPath("/org/bluez/hci10")).isBelow(adapter))
        #expect(!adapter.isBelow(adapter))
        #expect(adapter.isBelow(.root))
        #expect(adapter.lastElement == "hci1")
        #expect(adapter.parent?.text == "/org/bluez")
        #expect(ObjectPath.root.parent == nil)
    }

    @Test func namesFollowTheirRules() {
        #expect(DBusName.isBus("org.bluez") && DBusName.isBus(":1.42") && DBusName.isBus("a-b.c"))
        #expect(!DBusName.isBus("bluez") && !DBusName.isBus("org..bluez") && !DBusName.isBus("org.1bluez"))
        #expect(DBusName.isInterface("org.bluez.Device1") && !DBusName.isInterface("org.blue-z"))
        #expect(DBusName.isMember("GetAll") && !DBusName.isMember("Get.All") && !DBusName.isMember("1Get"))
        #expect(!DBusName.isMember(String(repeating: "a", count: 256)))
    }
}
#endif
