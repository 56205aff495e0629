#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc
import ScriptedBlueZ
import Synchronization
import Testing

/// Against a real `dbus-daemon`, with GDBus as the other side: a second, independent marshaller.
@Suite struct DBusConnectionTests {
    private static let interface = "org.example.Test"
    private let bus: PrivateBus
    private let service: ScriptedService

    init() throws {
        // Allows more calls in flight than a system bus does (128).
        bus = try PrivateBus(limits: ["max_replies_per_connection": 10_000])
        service = try ScriptedService(on: bus)
    }

    private func connect(to other: PrivateBus? = nil) async throws -> DBusConnection {
        try await (other ?? bus).connect()
    }

    private func call(
        _ connection: DBusConnection, _ member: String, _ body: [DBusValue] = [], deadline: Duration = .seconds(20)
    ) async throws -> [DBusValue] {
        try await connection.call(
            to: service.uniqueName, path: .root, interface: Self.interface, member: member, body, deadline: deadline)
    }

    @Test func aConnectionGetsAUniqueName() async throws {
        let first = try await connect()
        let second = try await connect()
        #expect(first.uniqueName.hasPrefix(":1."))
        #expect(first.uniqueName != second.uniqueName)
    }

    @Test func descriptorsPassOverASocketOfThisMachineAndNotOverTCP() async throws {
        #expect(try await connect().passesDescriptors)
        let remote = try PrivateBus(isOverTCP: true)
        #expect(try await !connect(to: remote).passesDescriptors)
    }

    @Test func everyTypeSurvivesTheWayThroughTheBusAndGDBus() async throws {
        service.on(Self.interface, "Echo") { .values($0.body) }
        let connection = try await connect()
        for value in Samples.values {
            #expect(try await call(connection, "Echo", [value]) == [value])
        }
        #expect(try await call(connection, "Echo", Samples.values) == Samples.values)
    }

    @Test func anErrorCarriesNameAndText() async throws {
        let refusal = DBusError(name: "org.bluez.Error.NotReady", message: "Resource Not Ready")
        service.on(Self.interface, "Refuse") { _ in .error(refusal) }
        let connection = try await connect()
        await #expect(throws: refusal) { _ = try await call(connection, "Refuse") }
    }

    @Test func aCallToNobodyFailsAtOnce() async throws {
        let connection = try await connect()
        let error = await #expect(throws: DBusError.self) {
            _ = try await connection.call(to: "org.missing", path: .root, interface: "a.b", member: "M")
        }
        #expect(error?.name == DBusError.Name.serviceUnknown)
    }

    @Test func aCallWithoutReplyFailsAtItsDeadlineAndALateReplyIsIgnored() async throws {
        service.on(Self.interface, "Wait") { _ in .none }
        service.on(Self.interface, "Echo") { .values($0.body) }
        let connection = try await connect()
        let error = await #expect(throws: DBusError.self) {
            _ = try await call(connection, "Wait", deadline: .milliseconds(30))
        }
        #expect(error?.name == DBusError.Name.noReply)
        let waiting = try await service.calls.first { $0.member == "Wait" }
        service.answer(waiting, with: .values([.byte(1)]))
        #expect(try await call(connection, "Echo", [.byte(2)]) == [.byte(2)])
    }

    @Test func shortDeadlinesAreKeptBesideLongOnes() async throws {
        service.on(Self.interface, "Wait") { _ in .none }
        let connection = try await connect()
        let ended = Recorder<String>()
        for (name, deadline) in [
            ("long", Duration.seconds(3600)), ("short", .milliseconds(20)), ("mid", .milliseconds(60)),
        ] {
            let message = try DBusMessage.methodCall(
                to: service.uniqueName, path: .root, interface: Self.interface, member: "Wait")
            connection.call(message, deadline: deadline) { _ in ended.append(name) }
        }
        try await ended.wait { $0 == ["short", "mid"] }
        connection.close()
        try await ended.wait { $0 == ["short", "mid", "long"] }
    }

    @Test func pendingCallsFailWhenTheBusDies() async throws {
        service.on(Self.interface, "Wait") { _ in .none }
        let connection = try await connect()
        let ended = Recorder<String>()
        connection.onDisconnect { ended.append($0.name) }
        for _ in 0..<3 {
            let message = try DBusMessage.methodCall(
                to: service.uniqueName, path: .root, interface: Self.interface, member: "Wait")
            connection.call(message, deadline: .seconds(3600)) { result in
                if case .failure(let error) = result { ended.append(error.name) }
            }
        }
        try await service.calls.wait { $0.count == 3 }
        bus.kill()
        try await ended.wait { $0 == Array(repeating: DBusError.Name.disconnected, count: 4) }
        // libdbus accepts a send on a dead connection; here it is an error.
        let error = await #expect(throws: DBusError.self) { _ = try await call(connection, "Wait") }
        #expect(error?.name == DBusError.Name.disconnected)
    }

    @Test func closingFailsWaitingCallsAndReportsNoDisconnect() async throws {
        service.on(Self.interface, "Wait") { _ in .none }
        let connection = try await connect()
        let ended = Recorder<String>()
        connection.onDisconnect { _ in ended.append("disconnected") }
        let message = try DBusMessage.methodCall(
            to: service.uniqueName, path: .root, interface: Self.interface, member: "Wait")
        connection.call(message, deadline: .seconds(3600)) { _ in ended.append("call") }
        connection.close()
        connection.close()
        try await ended.wait { $0 == ["call"] }
        connection.queue.sync {}
        #expect(ended.elements == ["call"])
    }

    @Test func callsFromFourThreadsAllGetTheirOwnReply() async throws {
        service.on(Self.interface, "Echo") { .values($0.body) }
        let connection = try await connect()
        let replies = Recorder<Bool>()
        let name = service.uniqueName
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in 0..<1000 {
                let value = DBusValue.uint32(UInt32(thread * 1000 + index))
                do {
                    let message = try DBusMessage.methodCall(
                        to: name, path: .root, interface: Self.interface, member: "Echo", [value])
                    connection.call(message, deadline: .seconds(60)) { result in
                        guard case .success(let reply) = result else { return replies.append(false) }
                        var reader = DBusReader(reply)
                        replies.append((try? reader.value()) == value)
                    }
                } catch {
                    replies.append(false)
                }
            }
        }
        try await replies.wait(deadline: .seconds(60)) { $0.count == 4000 }
        #expect(replies.elements.allSatisfy { $0 })
    }

    @Test func aReceivedDescriptorReachesTheSendersPipe() async throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (DBusFileDescriptor(adopting: ends[0]), DBusFileDescriptor(adopting: ends[1]))
        service.on(Self.interface, "Acquire") { _ in .values([.fileDescriptor(writeEnd), .uint16(517)]) }
        let connection = try await connect()
        let reply = try await call(connection, "Acquire")
        let descriptor = try #require(reply.first?.descriptorValue)
        #expect(reply.last == .uint16(517))
        #expect(write(descriptor.rawValue, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(readEnd.rawValue, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
    }

    @Test func aSentDescriptorArrives() async throws {
        service.on(Self.interface, "Give") { call in
            .values([.boolean(fcntl(call.body.first?.descriptorValue?.rawValue ?? -1, F_GETFD) >= 0)])
        }
        let connection = try await connect()
        let descriptor = DBusFileDescriptor(adopting: dup(0))
        #expect(try await call(connection, "Give", [.fileDescriptor(descriptor)]) == [.boolean(true)])
    }

    @Test func signalsReachTheSubscriptionsWhoseRuleMatches() async throws {
        let connection = try await connect()
        let heard = Recorder<String>()
        let rule = DBusMatchRule(pathNamespace: ObjectPath("/org/bluez"), interface: Self.interface, member: "Told")
        let subscription = connection.subscribe(rule) { message in
            var reader = DBusReader(message)
            heard.append((try? reader.string()) ?? "unreadable")
        } completion: { result in
            if case .success = result { heard.append("added") }
        }
        try await heard.wait { $0 == ["added"] }
        service.emit("/org/bluez/hci0", Self.interface, "Told", [.string("1")])
        service.emit("/org/other", Self.interface, "Told", [.string("elsewhere")])
        service.emit("/org/bluez/hci0", Self.interface, "Other", [.string("other")])
        service.emit("/org/bluez", Self.interface, "Told", [.byte(2)])
        service.emit("/org/bluez", Self.interface, "Told", [.string("3")])
        try await heard.wait { $0 == ["added", "1", "unreadable", "3"] }
        subscription.cancel()
        // The bus has handled RemoveMatch before it answers a later call.
        _ = try await connection.call(
            to: "org.freedesktop.DBus", path: ObjectPath("/org/freedesktop/DBus") ?? .root,
            interface: "org.freedesktop.DBus", member: "GetId")
        service.emit("/org/bluez", Self.interface, "Told", [.string("4")])
        service.on(Self.interface, "Echo") { .values($0.body) }
        _ = try await call(connection, "Echo")
        #expect(heard.elements.last == "3")
    }

    @Test func readingGoesOnWhenMessagesThatWereHeldAreLetGo() async throws {
        // libdbus stops reading while 63 MB of messages are alive.
        let (all, enough) = (80, 62)
        let connection = try await connect()
        let held = LockedState<[DBusMessage]>([])
        let heard = Recorder<Int>()
        let added = Recorder<Bool>()
        let rule = DBusMatchRule(member: "Big")
        let subscription = connection.subscribe(rule) { message in
            heard.append(
                held.withLock { held in
                    held.append(message)
                    return held.count
                })
        } completion: { _ in
            added.append(true)
        }
        try await added.wait { !$0.isEmpty }
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 0..<all { service.emit("/big", Self.interface, "Big", [.string(text)]) }
        try await heard.wait { $0.count >= enough }
        // Nothing is read now, so a reply does not arrive.
        service.on(Self.interface, "Echo") { .values($0.body) }
        let error = await #expect(throws: DBusError.self) {
            _ = try await call(connection, "Echo", deadline: .milliseconds(100))
        }
        #expect(error?.name == DBusError.Name.noReply && heard.elements.count < all)
        // On the queue, where messages must be used.
        connection.queue.async { held.withLock { $0 = [] } }
        try await heard.wait { $0.count == all }
        subscription.cancel()
    }

    @Test func tooManyMatchRulesAreAnError() async throws {
        let bus = try PrivateBus(limits: ["max_match_rules_per_connection": 1])
        let connection = try await bus.connect()
        let added = Recorder<String>()
        let subscriptions = ["A", "B"].map { member in
            connection.subscribe(DBusMatchRule(member: member)) { _ in
            } completion: { result in
                switch result {
                case .success: added.append("added")
                case .failure(let error): added.append(error.name)
                }
            }
        }
        try await added.wait { $0 == ["added", "org.freedesktop.DBus.Error.LimitsExceeded"] }
        withExtendedLifetime(subscriptions) {}
    }

    @Test func anOwnerWatchFollowsTheName() async throws {
        let connection = try await connect()
        let owners = Recorder<String?>()
        let watch = connection.watchOwner(of: "org.example.Service") { result in
            if case .success(let owner) = result { owners.append(owner) }
        }
        try await owners.wait { $0 == [nil] }
        let other = try ScriptedService(on: bus, owning: "org.example.Service")
        let first = other.uniqueName
        try await owners.wait { $0 == [nil, first] }
        other.stop()
        try await owners.wait { $0 == [nil, first, nil] }
        try other.start(owning: "org.example.Service")
        let second = other.uniqueName
        #expect(second != first)
        try await owners.wait { $0 == [nil, first, nil, second] }
        withExtendedLifetime(watch) {}
    }

    @Test(arguments: ["unix:path=/nonexistent/socket", "nonsense", "unix:"])
    func anAddressWhereNobodyListensIsAnError(address: String) async {
        await #expect(throws: DBusError.self) {
            _ = try await DBusConnection.open(.explicit(address), queue: DispatchQueue(label: "test"))
        }
    }

    /// A silent listener must not make the connection hang, nor block its queue.
    @Test func aSilentBusIsAnErrorAtTheDeadline() async throws {
        let listener = try SilentListener()
        let error = await #expect(throws: DBusError.self) {
            _ = try await DBusConnection.open(
                listener.address, queue: DispatchQueue(label: "test"), deadline: .milliseconds(50))
        }
        #expect(error?.name == DBusError.Name.noReply)
    }

    /// A listener that accepts no connection blocks `connect(2)`, in at most one thread of this process.
    @Test func aBusThatTakesNoConnectionIsAnErrorAtTheDeadlineAndCostsOneThread() async throws {
        let listener = try SilentListener(queueLength: 0)
        try listener.fill()
        let ended = Recorder<String>()
        let queue = DispatchQueue(label: "test")
        for count in 1...20 {
            DBusConnection.open(listener.address, queue: queue, deadline: .milliseconds(count == 1 ? 50 : 3_600_000)) {
                if case .failure(let error) = $0 { ended.append(error.name) }
            }
            try await ended.wait { $0.count == count }
        }
        #expect(ended.elements.allSatisfy { $0 == DBusError.Name.noReply })
        // The listener's end frees the thread.
        withExtendedLifetime(listener) {}
    }

    @Test func aPeersPingIsAnsweredAndOtherCallsAreRefused() async throws {
        let first = try await connect()
        let second = try await connect()
        #expect(
            try await second.call(
                to: first.uniqueName, path: .root, interface: "org.freedesktop.DBus.Peer", member: "Ping") == [])
        let error = await #expect(throws: DBusError.self) {
            _ = try await second.call(to: first.uniqueName, path: .root, interface: "a.b", member: "M")
        }
        #expect(error?.name == DBusError.Name.unknownMethod)
    }

    /// The connection closes immediately, because nothing retains it until the deadline of its opening.
    @Test func aReleasedConnectionLeavesTheBus() async throws {
        let observer = try await connect()
        let owners = Recorder<String?>()
        var connection: DBusConnection? = try await bus.connect(deadline: .seconds(3600))
        let name = try #require(connection?.uniqueName)
        let watch = observer.watchOwner(of: name) { result in
            if case .success(let owner) = result { owners.append(owner) }
        }
        try await owners.wait { $0 == [name] }
        connection = nil
        try await owners.wait { $0 == [name, nil] }
        withExtendedLifetime(watch) {}
    }
}

/// A socket that accepts as many connections as its queue holds, and never sends anything.
private final class SilentListener {
    let address: DBusAddress
    private let descriptor: CInt
    private let name: String
    private var fillers: [CInt] = []

    init(queueLength: CInt = 4) throws {
        // An abstract address, so that nothing is left in the file system.
        name = "swift-dbus-silent-\(getpid())-\(UInt32.random(in: 0...(.max)))"
        address = .explicit("unix:abstract=\(name)")
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        try #require(withAddress { bind(descriptor, $0, $1) } == 0 && listen(descriptor, queueLength) == 0)
    }

    /// Fills the queue, so that further connects wait.
    func fill() throws {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        repeat {
            fillers.append(socket(AF_UNIX, type, 0))
        } while withAddress {
            Glibc.connect(fillers[fillers.count - 1], $0, $1)
        } == 0
        try #require(errno == EAGAIN)
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    deinit { for descriptor in fillers + [descriptor] { close(descriptor) } }
}
#endif
