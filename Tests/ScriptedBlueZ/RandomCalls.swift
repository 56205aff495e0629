#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import Dispatch

/// Programs that make random calls to `org.bluez`, and sometimes leave the bus.
public struct RandomCalls: Sendable {
    /// A method to call: its interface, its name, and the types of its arguments.
    public typealias Method = (interface: String, name: String, types: [String])

    private var random: SeededGenerator
    private let methods: [Method]

    private init(_ methods: [Method], seed: UInt64) {
        self.methods = methods
        random = SeededGenerator(seed: seed, stream: "calls")
    }

    /// Makes calls for a duration, as eight concurrent programs.
    ///
    /// - Returns: The number of calls.
    public static func run(
        _ methods: [Method], on bus: PrivateBus, for duration: Duration, seed: UInt64
    ) async throws -> Int {
        let end = ContinuousClock.now + duration
        return try await withThrowingTaskGroup { group in
            for number in UInt64(0)..<8 {
                group.addTask {
                    var calls = RandomCalls(methods, seed: seed &+ number)
                    return try await calls.run(on: bus, until: end)
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private mutating func run(on bus: PrivateBus, until end: ContinuousClock.Instant) async throws -> Int {
        var count = 0
        var client = try await DBusConnection.open(bus)
        defer { client.close() }
        while ContinuousClock.now < end {
            if random.below(200) == 0 {
                client.close()
                client = try await DBusConnection.open(bus)
            }
            let method = pick(methods)
            let isRight = random.below(10) > 0
            let arguments = method.types.map { value(of: isRight ? $0 : pick(["s", "u", "ay", "a{sv}"])) }
            let message = try DBusMessage.methodCall(
                to: "org.bluez", path: path(), interface: method.interface, member: method.name, arguments)
            count += 1
            // Many calls stay unanswered for a long time, such as those that ask an agent.
            if random.below(4) == 0 {
                await reply(to: message, on: client)
            } else {
                try client.send(message)
            }
        }
        return count
    }

    private func reply(to message: DBusMessage, on client: DBusConnection) async {
        await withCheckedContinuation { continuation in
            client.call(message, deadline: .milliseconds(200)) { _ in continuation.resume() }
        }
    }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int(random.below(UInt64(choices.count)))]
    }

    private mutating func path() -> ObjectPath {
        let device = "/org/bluez/hci0/dev_C0_DE_00_00_18_0D"
        return ObjectPath(
            pick([
                "/", "/org", "/org/bluez", "/org/bluez/hci0", "/org/bluez/hci0", "/org/bluez/hci9", device, device,
                device + "/service0008", device + "/service0008/char0009", device + "/service0008/char000c",
                device + "/service0008/char0009/desc000b", device + "/service0010/char0011", device + "/service9999",
            ])) ?? .root
    }

    private mutating func value(of type: String) -> DBusValue {
        switch type {
        case "s":
            return .string(
                pick([
                    "", "org.bluez.Adapter1", "org.bluez.Device1", "Alias", "Trusted", "Powered", "Discoverable",
                    "KeyboardOnly",
                    "\u{1F4A9}",
                ]))
        case "o": return .objectPath(path())
        case "u": return .uint32(UInt32(truncatingIfNeeded: random.next()))
        case "ay": return .bytes((0..<random.below(700)).map { UInt8(truncatingIfNeeded: $0) })
        case "b": return .boolean(random.below(2) == 0)
        case "v": return .variant(value(of: pick(["s", "u", "b", "ay"])))
        case "a{sv}":
            var options: [String: DBusValue] = [:]
            for _ in 0..<random.below(4) {
                options[pick(["type", "offset", "UUIDs", "RSSI", "Pathloss", "Transport", "Pattern", "x"])] = pick([
                    .string("command"), .string("le"), .uint16(UInt16(truncatingIfNeeded: random.next())), .int16(-70),
                    .strings(["180D"]), .bytes([1]), .boolean(true),
                ])
            }
            return .properties(options)
        default: return .byte(0)
        }
    }
}

extension DBusConnection {
    /// Opens a connection for a separate program.
    public static func open(_ bus: PrivateBus) async throws -> DBusConnection { try await open(at: bus.address) }

    /// Opens a connection for a separate program, on any bus.
    public static func open(at address: DBusAddress) async throws -> DBusConnection {
        let opened = await withCheckedContinuation { continuation in
            open(address, queue: DispatchQueue(label: "program")) { continuation.resume(returning: $0) }
        }
        return try opened.get()
    }
}
#endif
