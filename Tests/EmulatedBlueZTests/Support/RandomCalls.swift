import BluetoothDBus
import BluetoothSupport
import ScriptedBlueZ

@testable import EmulatedBlueZ

/// A program that calls anything with anything, and leaves now and then.
struct RandomCalls {
    private var random: SeededGenerator
    private let interfaces = BlueZInterfaces(.bluez5_66)
    private static let names = [
        BlueZInterfaces.adapter, BlueZInterfaces.device, BlueZInterfaces.service, BlueZInterfaces.characteristic,
        BlueZInterfaces.descriptor, BlueZInterfaces.gattManager, BlueZInterfaces.advertisingManager,
        BlueZInterfaces.monitorManager, BlueZInterfaces.agentManager, "org.freedesktop.DBus.Properties",
        "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.ObjectManager",
    ]

    init(seed: UInt64) { random = SeededGenerator(seed: seed, stream: "calls") }

    /// - Returns: The number of calls.
    mutating func run(on bus: PrivateBus, until end: ContinuousClock.Instant) async throws -> Int {
        var count = 0
        var client = try await BusClient(bus)
        while ContinuousClock.now < end {
            if random.below(200) == 0 {
                client.close()
                client = try await BusClient(bus)
            }
            let interface = pick(Self.names)
            let methods = interfaces[interface]?.methods ?? []
            guard !methods.isEmpty else { continue }
            let method = pick(methods)
            let isRight = random.below(10) > 0
            let arguments = method.arguments.map { value(of: isRight ? $0.type : pick(["s", "u", "ay", "a{sv}"])) }
            let message = try DBusMessage.methodCall(
                to: "org.bluez", path: path(), interface: interface, member: method.name, arguments)
            count += 1
            // Many calls are left unanswered for long, such as those that ask an agent.
            if random.below(4) == 0 {
                _ = await reply(to: message, on: client)
            } else {
                try client.connection.send(message)
            }
        }
        client.close()
        return count
    }

    private func reply(to message: DBusMessage, on client: BusClient) async -> Bool {
        await withCheckedContinuation { continuation in
            client.connection.call(message, deadline: .milliseconds(200)) { reply in
                if case .success = reply {
                    continuation.resume(returning: true)
                } else {
                    continuation.resume(returning: false)
                }
            }
        }
    }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int(random.below(UInt64(choices.count)))]
    }

    private mutating func path() -> ObjectPath {
        let device = "/org/bluez/hci0/dev_C0_DE_00_00_18_0D"
        return .constant(
            pick([
                "/", "/org", "/org/bluez", "/org/bluez/hci0", "/org/bluez/hci0", "/org/bluez/hci9", device, device,
                device + "/service0008", device + "/service0008/char0009", device + "/service0008/char000c",
                device + "/service0008/char0009/desc000b", device + "/service0010/char0011", device + "/service9999",
            ]))
    }

    private mutating func value(of type: String) -> DBusValue {
        switch type {
        case "s":
            return .string(
                pick([
                    "", "org.bluez.Adapter1", "org.bluez.Device1", "Alias", "Trusted", "Discoverable", "KeyboardOnly",
                    "\u{1F4A9}",
                ]))
        case "o": return .objectPath(path())
        case "u": return .uint32(UInt32(truncatingIfNeeded: random.next()))
        case "ay": return .bytes((0..<random.below(700)).map { UInt8(truncatingIfNeeded: $0) })
        case "v": return .variant(value(of: pick(["s", "u", "ay"])))
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
