#if os(Linux)
import BluetoothDBus
import Dispatch
import Glibc
import ScriptedBlueZ
import Testing

/// Objects exported on a real bus, used through GDBus.
@Suite struct DBusObjectServerTests {
    private static let interface = "org.example.Thing"
    private let bus: PrivateBus
    private let peer: ScriptedService
    private let connection: DBusConnection
    private let server = DBusObjectServer()
    private let root = ObjectPath("/app") ?? .root
    private let child = ObjectPath("/app/thing0") ?? .root

    init() async throws {
        bus = try PrivateBus()
        peer = try ScriptedService(on: bus)
        connection = try await bus.connect()
        server.attach(to: connection)
        server.serve(only: peer.uniqueName)
    }

    private func call(
        _ path: ObjectPath, _ interface: String?, _ member: String, _ body: [DBusValue] = []
    ) async throws -> [DBusValue] {
        try await peer.call(connection.uniqueName, path.text, interface, member, body)
    }

    private func refusal(
        _ path: ObjectPath, _ interface: String?, _ member: String, _ body: [DBusValue] = []
    ) async -> String? {
        do {
            _ = try await call(path, interface, member, body)
            return nil
        } catch {
            return (error as? DBusError)?.name
        }
    }

    // MARK: Methods

    @Test func aMethodIsAnsweredWithValuesOrWithAnError() async throws {
        var thing = DBusInterface(Self.interface)
        thing.on("Echo", "sa{sv}") { $0.answer($0.arguments) }
        thing.on("Refuse") { $0.refuse(DBusError(name: "org.example.Error", message: "no")) }
        server.export([thing], at: child)
        let values: [DBusValue] = [.string("x"), .properties(["offset": .uint16(3)])]
        #expect(try await call(child, Self.interface, "Echo", values) == values)
        #expect(try await call(child, nil, "Echo", values) == values)
        await #expect(throws: DBusError(name: "org.example.Error", message: "no")) {
            _ = try await call(child, Self.interface, "Refuse")
        }
    }

    @Test func anAnswerMayComeLaterAndFromAnotherThread() async throws {
        let held = Recorder<DBusCall>()
        var thing = DBusInterface(Self.interface)
        thing.on("Later") { held.append($0) }
        thing.on("Now") { $0.answer() }
        server.export([thing], at: child)
        async let later = call(child, Self.interface, "Later")
        let waiting = try await held.first { _ in true }
        #expect(try await call(child, Self.interface, "Now") == [])
        waiting.answer([.byte(7)])
        waiting.refuse(DBusError(name: "org.example.Error", message: "too late"))
        #expect(try await later == [.byte(7)])
    }

    @Test func aCallThatIsLetGoOfIsRefused() async {
        var thing = DBusInterface(Self.interface)
        thing.on("Forget") { _ in }
        server.export([thing], at: child)
        #expect(await refusal(child, Self.interface, "Forget") == DBusError.Name.failed)
    }

    @Test func anAnswerThatBreaksARuleIsAnErrorForTheCaller() async {
        var thing = DBusInterface(Self.interface)
        thing.on("Break") { $0.answer([.string("a\0b")]) }
        server.export([thing], at: child)
        #expect(await refusal(child, Self.interface, "Break") == DBusError.Name.failed)
    }

    @Test func aDescriptorGoesOutWithTheAnswerAndStaysOurs() async throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (reading, writing) = (DBusFileDescriptor(adopting: ends[0]), DBusFileDescriptor(adopting: ends[1]))
        var thing = DBusInterface(Self.interface)
        thing.on("Acquire") { $0.answer([.fileDescriptor(writing), .uint16(23)]) }
        server.export([thing], at: child)
        let answer = try await call(child, Self.interface, "Acquire")
        let theirs = try #require(answer.first?.descriptorValue)
        #expect(answer.last == .uint16(23))
        #expect(theirs.rawValue != writing.rawValue)
        #expect(write(theirs.rawValue, "hi", 2) == 2)
        var bytes: [UInt8] = [0, 0]
        #expect(read(reading.rawValue, &bytes, 2) == 2)
        #expect(bytes == Array("hi".utf8))
        #expect(fcntl(writing.rawValue, F_GETFD) >= 0)
    }

    @Test func whatIsUnknownOrOfAnotherSignatureIsRefused() async {
        var thing = DBusInterface(Self.interface)
        thing.on("Do", "s") { $0.answer() }
        server.export([thing], at: child)
        #expect(await refusal(child, Self.interface, "Do", [.byte(1)]) == DBusError.Name.invalidArguments)
        #expect(await refusal(child, Self.interface, "Other") == DBusError.Name.unknownMethod)
        #expect(await refusal(child, "org.example.None", "Do") == DBusError.Name.unknownInterface)
        #expect(await refusal(root, Self.interface, "Do", [.string("")]) == DBusError.Name.unknownObject)
        server.withdraw(child)
        #expect(await refusal(child, Self.interface, "Do", [.string("")]) == DBusError.Name.unknownObject)
    }

    // MARK: Standard interfaces

    @Test func propertiesAreReadAndNotWritten() async throws {
        let values: [String: DBusValue] = ["Fixed": .strings(["read"]), "TxPower": .int16(4)]
        server.export([DBusInterface(Self.interface, properties: values)], at: child)
        let properties = "org.freedesktop.DBus.Properties"
        func name(_ text: String) -> [DBusValue] { [.string(Self.interface), .string(text)] }
        #expect(try await call(child, properties, "Get", name("Fixed")) == [.variant(.strings(["read"]))])
        #expect(try await call(child, properties, "GetAll", [.string(Self.interface)]) == [.properties(values)])
        #expect(await refusal(child, properties, "Get", name("None")) == DBusError.Name.unknownProperty)
        func refused(_ name: [DBusValue]) async -> String? {
            await refusal(child, properties, "Set", name + [.variant(.int16(0))])
        }
        // bluetoothd may set this property of an advertisement.
        #expect(await refused(name("TxPower")) == DBusError.Name.propertyReadOnly)
        #expect(await refused(name("None")) == DBusError.Name.unknownProperty)
        #expect(await refused([.string("org.example.None"), .string("TxPower")]) == DBusError.Name.unknownInterface)
        #expect(try await call(child, properties, "Get", name("TxPower")) == [.variant(.int16(4))])
    }

    @Test func aSignalIsSentToThePeerAlone() async throws {
        let other = try ScriptedService(on: bus)
        server.emit(child, Self.interface, "Now", [.bytes([1, 2])])
        let signal = try await peer.signals.first { $0.member == "Now" }
        #expect(signal.path == child.text)
        #expect(signal.body == [.bytes([1, 2])])
        // A broadcast signal would have arrived by now, because a later signal follows it.
        server.serve(only: other.uniqueName)
        server.emit(child, Self.interface, "Later", [])
        try await other.signals.first { $0.member == "Later" }
        #expect(other.signals.elements.map(\.member) == ["Later"])
    }

    @Test func aManagerListsWhatIsBelowItAndSignalsWhatGoes() async throws {
        server.export([DBusInterface(Self.interface, properties: ["N": .byte(1)])], at: child)
        server.export([], at: root, isManager: true)
        let manager = "org.freedesktop.DBus.ObjectManager"
        let listed = try await call(root, manager, "GetManagedObjects").first
        guard case .dictionary(let objects)? = listed else { throw CancellationError() }
        #expect(objects.entries.map(\.key) == [.objectPath(child)])
        #expect(
            objects.entries.first?.value == ScriptedService.value(of: [Self.interface: ["N": .byte(1)]]))
        server.withdraw(child)
        let removed = try await peer.signals.first { $0.member == "InterfacesRemoved" }
        #expect(removed.path == root.text)
        #expect(removed.body == [.objectPath(child), .strings([Self.interface])])
    }

    // MARK: Strangers

    @Test func aStrangersCallIsRefusedAndChangesNothing() async throws {
        let called = Recorder<String>()
        var thing = DBusInterface(Self.interface, properties: ["Handle": .uint16(0)])
        thing.on("Do") { call in
            called.append("Do")
            call.answer()
        }
        server.export([thing], at: child)
        let stranger = try ScriptedService(on: bus)
        func refusal(_ interface: String, _ member: String, _ body: [DBusValue] = []) async -> String? {
            do {
                _ = try await stranger.call(connection.uniqueName, child.text, interface, member, body)
                return nil
            } catch {
                return (error as? DBusError)?.name
            }
        }
        let properties = "org.freedesktop.DBus.Properties"
        #expect(await refusal(Self.interface, "Do") == DBusError.Name.accessDenied)
        let set: [DBusValue] = [.string(Self.interface), .string("Handle"), .variant(.uint16(1))]
        #expect(await refusal(properties, "Set", set) == DBusError.Name.accessDenied)
        #expect(await refusal(properties, "GetAll", [.string(Self.interface)]) == DBusError.Name.accessDenied)
        #expect(await refusal("org.example.None", "None") == DBusError.Name.accessDenied)
        #expect(called.elements.isEmpty)
        // Every program may check whether this one is alive.
        #expect(await refusal("org.freedesktop.DBus.Peer", "Ping") == nil)
        server.serve(only: stranger.uniqueName)
        #expect(await refusal(Self.interface, "Do") == nil)
        server.serve(only: nil)
        #expect(await refusal(Self.interface, "Do") == DBusError.Name.accessDenied)
        #expect(called.elements == ["Do"])
    }

    @Test func objectsOutliveTheConnection() async throws {
        var thing = DBusInterface(Self.interface)
        thing.on("Do") { $0.answer() }
        server.export([thing], at: child)
        let next = try await bus.connect()
        server.attach(to: next)
        #expect(await refusal(child, Self.interface, "Do") == DBusError.Name.unknownMethod)
        #expect(try await peer.call(next.uniqueName, child.text, Self.interface, "Do", []) == [])
    }
}
#endif
