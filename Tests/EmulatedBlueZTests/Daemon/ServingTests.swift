import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Applications that clients register.
@Suite struct ServingTests {
    private static let gatt = "org.bluez.GattManager1"

    /// The reply to `GetManagedObjects`.
    static func objects(_ objects: [(String, String, [String: DBusValue])]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: .objectPath,
                valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)),
                entries: objects.map { path, interface, properties in
                    .init(key: .objectPath(.constant(path)), value: .interfaces([interface: properties]))
                }))
    }

    /// The objects of an application with one characteristic.
    static func application(_ flags: [String], acquires: Bool = false) -> DBusValue {
        var characteristic: [String: DBusValue] = [
            "UUID": .string("0xFFF1"), "Service": .objectPath(.constant("/app/service")), "Flags": .strings(flags),
        ]
        if acquires { characteristic["NotifyAcquired"] = .boolean(false) }
        return objects([
            ("/app/agent", "org.example.Other", [:]),
            ("/app/service/c", "org.bluez.GattCharacteristic1", characteristic),
            ("/app/service", "org.bluez.GattService1", ["UUID": .string("FFF0"), "Primary": .boolean(true)]),
        ])
    }

    /// The line of an adapter with further services, given by the first digits of their UUIDs.
    static func adapterServices(_ uuids: String...) -> String {
        let all = ["00001800", "00001801"] + uuids
        return "hci0 UUIDs=[" + all.map { $0 + "-0000-1000-8000-00805f9b34fb" }.joined(separator: " ") + "]"
    }

    private static let central = DaemonFixture.peer
    private static let attribute = AttributeID(rawValue: 2)

    private func registered(
        _ flags: [String], acquires: Bool = false, _ dialect: BlueZDialect = .bluez5_66
    ) -> DaemonFixture {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
        fixture.registerApplication()
        fixture.reply(Self.application(flags, acquires: acquires))
        let operations = fixture.outputs.compactMap { output -> OperationID? in
            if case .peripheral(_, .addService(let operation, _)) = output { operation } else { nil }
        }
        for operation in operations { fixture.handle(.peripheral(adapter: 0, .serviceAdded(operation: operation))) }
        let central = PeerFacts(peer: Self.central, address: "C0:DE:00:00:18:0D")
        fixture.handle(.centralConnected(adapter: 0, central))
        return fixture
    }

    private func event(_ fixture: inout DaemonFixture, _ event: PeripheralEvent) {
        fixture.handle(.peripheral(adapter: 0, event))
    }

    @Test(arguments: [false, true]) func aCentralWithAKnownKeyIsAskedForSecurity(_ isBonded: Bool) {
        let central = PeerFacts(peer: Self.central, address: "C0:DE:00:00:18:0D")
        var fixture = DaemonFixture(bonds: isBonded ? [central] : [])
        _ = fixture.lines()
        fixture.handle(.centralConnected(adapter: 0, central))
        #expect(fixture.lines().contains { $0.hasPrefix("host requestSecurity") } == isBonded)
    }

    // MARK: Applications

    @Test func anApplicationIsReadBeforeTheCallIsAnswered() {
        var fixture = registered(["read"])
        #expect(
            fixture.lines().prefix(5) == [
                "watch :1.1", ":1.1 /app GetManagedObjects", "peripheral addService",
                Self.adapterServices("0000fff0"), "answer 1",
            ])
        fixture.registerApplication()
        #expect(fixture.lines() == ["refuse 2 AlreadyExists: Already Exists"])
        fixture.handle(.clientLeft(":1.1"))
        #expect(fixture.lines() == ["peripheral removeService", Self.adapterServices()])
    }

    private static let noValidObject = "No valid service object found"
    private static let noEntry = "Failed to create entry in database"

    /// An application with a characteristic or a descriptor that the daemon must refuse.
    private static func application(_ interface: String, _ properties: [String: DBusValue]) -> DBusValue {
        let (service, characteristic) = (ObjectPath.constant("/app/s"), ObjectPath.constant("/app/s/c"))
        let plain: [String: DBusValue] = [
            "UUID": .string("FFF1"), "Service": .objectPath(service), "Characteristic": .objectPath(characteristic),
            "Flags": .strings(["read"]),
        ]
        let serviceProperties: [String: DBusValue] = ["UUID": .string("FFF0"), "Primary": .boolean(true)]
        return objects([
            ("/app/s", "org.bluez.GattService1", serviceProperties),
            ("/app/s/c", "org.bluez.GattCharacteristic1", plain),
            ("/app/s/c/d", "org.bluez." + interface, plain.merging(properties) { $1 }),
        ])
    }

    @Test(
        arguments: [
            (objects([]), "No object received"), (.string("?"), "No object received"),
            (objects([("/a", "org.example.Other", [:])]), noValidObject),
            (objects([("/a", "org.bluez.GattProfile1", ["UUIDs": .strings([])])]), noValidObject),
            (objects([("/a", "org.bluez.GattProfile1", [:])]), noValidObject),
            (
                objects([("/a", "org.bluez.GattService1", ["UUID": .string("1801"), "Primary": .boolean(true)])]),
                noEntry
            ),
            (objects([("/a", "org.bluez.GattService1", ["UUID": .string("FFF0")])]), noEntry),
            (
                objects([("/a", "org.bluez.GattService1", ["UUID": .string("x"), "Primary": .boolean(true)])]), noEntry
            ),
            (
                objects([
                    (
                        "/a", "org.bluez.GattService1",
                        ["UUID": .string("FFF0"), "Primary": .boolean(true), "Handle": .uint32(512)]
                    )
                ]), noEntry
            ),
            (application("GattCharacteristic1", ["Flags": .strings([])]), noValidObject),
            (application("GattCharacteristic1", ["Flags": .strings(["read", "fly"])]), noValidObject),
            (application("GattCharacteristic1", ["Flags": .string("read")]), noValidObject),
            (
                application("GattCharacteristic1", ["Service": .objectPath(.constant("/elsewhere"))]), noValidObject
            ),
            (application("GattCharacteristic1", ["UUID": .string("x")]), noEntry),
            (application("GattDescriptor1", ["Flags": .strings(["notify"])]), noValidObject),
            (
                application("GattDescriptor1", ["Characteristic": .objectPath(.constant("/elsewhere"))]), noValidObject
            ),
            (application("GattDescriptor1", ["UUID": .string("1800")]), noEntry),
        ] as [(DBusValue, String)])
    func applicationsThatAreNoneAreRefused(_ objects: DBusValue, _ text: String) {
        var fixture = DaemonFixture()
        fixture.registerApplication()
        fixture.reply(objects)
        #expect(fixture.lines().last == "refuse 1 Failed: \(text)")
    }

    @Test func aProfileAloneIsAnApplicationAndIsReleased() {
        var fixture = DaemonFixture()
        fixture.registerApplication()
        fixture.reply(
            Self.objects([("/app/profile", "org.bluez.GattProfile1", ["UUIDs": .strings(["180D", "none"])])]))
        #expect(fixture.lines().last == "answer 1")
        fixture.call("UnregisterApplication", .objectPath(.constant("/app")), on: DaemonFixture.adapter, Self.gatt)
        #expect(fixture.lines() == [":1.1 /app/profile Release", "answer 2"])
    }

    @Test func theExtendedPropertiesComeBeforeTheClientsDescriptors() throws {
        var fixture = DaemonFixture()
        fixture.registerApplication()
        fixture.reply(Self.application("GattDescriptor1", [:]))
        #expect(Self.descriptors(fixture) == ["FFF1"])
        fixture = DaemonFixture()
        fixture.registerApplication()
        fixture.reply(Self.application(["write", "reliable-write"]))
        #expect(Self.descriptors(fixture) == ["2900"])
    }

    /// The types of the descriptors of the first characteristic that is added to the controller.
    private static func descriptors(_ fixture: DaemonFixture) -> [BluetoothUUID]? {
        for case .peripheral(_, .addService(_, let service)) in fixture.outputs {
            return service.characteristics.first?.descriptors.map(\.uuid)
        }
        return nil
    }

    @Test func aReadOfACentralIsTheClientsToAnswer() {
        var fixture = registered(["read"])
        _ = fixture.lines()
        event(
            &fixture,
            .readRequested(
                request: RequestID(rawValue: 1), central: Self.central, attribute: Self.attribute, offset: 0, mtu: 50))
        #expect(
            fixture.outputs.map(DaemonFixture.line) == [
                ":1.1 /app/service/c ReadValue {device:dev_C0_DE_00_00_18_0D link:LE mtu:50}"
            ])
        fixture.reply(.bytes([1]))
        #expect(fixture.lines().last == "peripheral respond")
    }

    @Test func whatMayBeWrittenByCommandIsAnsweredBeforeTheClientIsAsked() {
        for (flags, first) in [
            (["write"], ":1.1 /app/service/c WriteValue 0x01 {device:dev_C0_DE_00_00_18_0D link:LE mtu:50}"),
            (["write", "write-without-response"], "peripheral respond"),
        ] {
            var fixture = registered(flags)
            _ = fixture.lines()
            let part = WritePart(attribute: Self.attribute, offset: 0, value: Data([1]))
            event(
                &fixture,
                .writeRequested(
                    request: RequestID(rawValue: 1), central: Self.central, mtu: 50, wantsResponse: true, parts: [part])
            )
            #expect(fixture.lines().first == first)
        }
    }

    @Test(
        arguments: [
            ("Failed", "131", 0x83), ("Failed", "0x83", 0x83), ("Failed", "0203", 0x83), ("Failed", "no", 0x80),
            ("Failed", "0x7F", 0x0E), ("Failed", "", 0x0E), ("ImproperlyConfigured", "", 0xFD),
            ("NotPermitted", "", 0x03), ("InProgress", "", 0xFE),
        ] as [(String, String, UInt8)])
    func anErrorOfTheClientIsTheCodeThatBluetoothdMakesOfIt(_ name: String, _ text: String, _ code: UInt8) {
        var fixture = registered(["write"], .bluez5_82)
        let part = WritePart(attribute: Self.attribute, offset: 0, value: Data([1]))
        event(
            &fixture,
            .writeRequested(
                request: RequestID(rawValue: 1), central: Self.central, mtu: 50, wantsResponse: true, parts: [part]))
        fixture.reply(.failure(DBusError(name: "org.bluez.Error." + name, message: text)))
        guard case .peripheral(_, .respond(_, let response, _))? = fixture.outputs.last else {
            Issue.record("no response")
            return
        }
        #expect(response == code)
    }

    @Test func partsThatFollowEachOtherAreOneWrite() {
        var fixture = registered(["write"])
        _ = fixture.lines()
        let parts = [0, 2].map { WritePart(attribute: Self.attribute, offset: $0, value: Data([1, 2])) }
        event(
            &fixture,
            .writeRequested(
                request: RequestID(rawValue: 1), central: Self.central, mtu: 50, wantsResponse: true, parts: parts))
        #expect(fixture.lines().first?.contains("WriteValue 0x01020102 ") == true)
    }

    @Test func aSubscriptionStartsTheClientAndTheLastEndStopsIt() {
        var fixture = registered(["notify"])
        _ = fixture.lines()
        event(
            &fixture,
            .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 1))
        let value = [UInt8](repeating: 1, count: 30)
        Self.notify(value, &fixture)
        Self.notify(value, &fixture)
        #expect(fixture.lines() == [":1.1 /app/service/c StartNotify", "peripheral updateValue"])
        event(&fixture, .notifyCredits(central: Self.central, count: 1))
        event(&fixture, .unsubscribed(central: Self.central, attribute: Self.attribute))
        #expect(fixture.lines() == ["peripheral updateValue", ":1.1 /app/service/c StopNotify"])
    }

    @Test(
        arguments: [
            ("org.bluez.Error.NotSupported", true), ("org.freedesktop.DBus.Error.UnknownMethod", true),
            ("org.bluez.Error.Failed", false), ("org.freedesktop.DBus.Error.NoReply", false),
        ])
    func aClientThatGivesNoSocketIsStartedInstead(unless error: String, _ isStarted: Bool) {
        var fixture = registered(["notify"], acquires: true)
        _ = fixture.lines()
        event(
            &fixture,
            .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 1))
        #expect(fixture.outputs.map(DaemonFixture.line).last?.contains("AcquireNotify") == true)
        fixture.reply(.failure(DBusError(name: error, message: "")))
        #expect(fixture.lines().contains(":1.1 /app/service/c StartNotify") == isStarted)
    }

    @Test func aReplyWithoutASocketIsTakenForNone() {
        var fixture = registered(["notify"], acquires: true)
        event(
            &fixture,
            .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 1))
        fixture.reply(.string("none"))
        #expect(fixture.lines().last == ":1.1 /app/service/c StartNotify")
    }

    /// Changes the property `Value` of the application's characteristic.
    private static func notify(_ value: [UInt8], _ fixture: inout DaemonFixture) {
        fixture.signal(
            "PropertiesChanged", of: "Properties", at: "/app/service/c", .string("org.bluez.GattCharacteristic1"),
            .properties(["Value": .bytes(value)]), .strings([]))
    }

    @Test func theCreditsOfASubscriptionEndWithItsApplication() {
        var fixture = registered(["notify"])
        event(
            &fixture, .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 2))
        fixture.call(
            "UnregisterApplication", .objectPath(.constant("/app")), on: DaemonFixture.adapter, Self.gatt)
        fixture.registerApplication()
        fixture.reply(Self.application(["notify"]))
        event(&fixture, .subscribed(central: Self.central, attribute: 4, mtu: 23, notifyCredits: 2))
        _ = fixture.lines()
        for byte: UInt8 in 1...3 { Self.notify([byte], &fixture) }
        #expect(fixture.lines() == ["peripheral updateValue", "peripheral updateValue"])
    }

    @Test func theValuesThatWaitForACentralEndWithTheirApplication() {
        var fixture = registered(["notify"])
        event(
            &fixture, .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 1))
        for byte: UInt8 in 1...3 { Self.notify([byte], &fixture) }
        fixture.call(
            "UnregisterApplication", .objectPath(.constant("/app")), on: DaemonFixture.adapter, Self.gatt)
        _ = fixture.lines()
        event(&fixture, .notifyCredits(central: Self.central, count: 1))
        #expect(fixture.lines().isEmpty)
    }

    @Test func aServiceWhoseObjectIsWithdrawnTakesItsSubscriptionsWithIt() {
        var fixture = registered(["notify"])
        event(
            &fixture, .subscribed(central: Self.central, attribute: Self.attribute, mtu: 23, notifyCredits: 1))
        _ = fixture.lines()
        fixture.withdraw("/app/service", "org.bluez.GattService1", of: "/app")
        Self.notify([1], &fixture)
        #expect(fixture.lines() == ["peripheral removeService", Self.adapterServices()])
    }
}
