import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

@testable import EmulatedBlueZ

/// Clients, a controller and a world whose actions are random, including invalid ones.
struct RandomInputs {
    private var random: SeededGenerator
    private(set) var daemon: BluetoothDaemon
    private var now = Duration.zero
    private var lastCall: UInt64 = 0
    private var requests: [RequestToClient] = []
    private var operations: [(LinkID, OperationID, LinkRequest)] = []
    private var connects: [(PeerID, OperationID)] = []
    private var added: [OperationID] = []
    private var advertisers: [(AdvertisementID, OperationID)] = []
    private var timers: [DaemonTimer] = []
    private var sockets: [ClientSocketID] = []
    private var lastLink: UInt64 = 0
    private var links: [LinkID: PeerID] = [:]
    /// The number of answers of each call.
    private(set) var answers: [ClientCallID: Int] = [:]
    /// The method of each call, and the step at which it was made.
    private(set) var calls: [ClientCallID: String] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed, stream: "inputs")
        let dialects = BlueZDialect.allCases
        let dialect = dialects[Int(random.below(UInt64(dialects.count)))]
        let isExperimental = random.below(2) == 1
        daemon = BluetoothDaemon(EmulatedBlueZConfiguration(dialect: dialect, isExperimental: isExperimental))
        for name in ["one", "two"] {
            handle(.hostAdded(HostFacts(name: name, address: "F0:00:00:00:00:01", isPowered: true)))
        }
    }

    // MARK: Choices

    private mutating func chance(_ percent: UInt64) -> Bool { random.below(100) < percent }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int(random.below(UInt64(choices.count)))]
    }

    private mutating func pickOptional<Element>(_ choices: [Element]) -> Element? {
        choices.isEmpty ? nil : pick(choices)
    }

    private mutating func client() -> String { ":1.\(1 + random.below(4))" }

    private mutating func peer() -> PeerID {
        PeerID(UUID(uuid: (UInt8(random.below(4)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    }

    private mutating func adapter() -> Int { Int(random.below(2)) }

    private mutating func path() -> ObjectPath {
        let paths = daemon.context.tree.paths
        if chance(90), let path = pickOptional(paths) { return path }
        return .constant(pick(["/", "/org", "/org/bluez/hci9", "/org/bluez/hci0/dev_00_00_00_00_00_00", "/a/b"]))
    }

    private mutating func value(of type: String) -> DBusValue {
        switch type {
        case "b": .boolean(chance(50))
        case "s":
            .string(
                pick(["", "le", "180D", "org.bluez.Adapter1", "org.bluez.Device1", "KeyboardDisplay", "Powered", "x"]))
        case "o": .objectPath(chance(60) ? path() : .constant(pick(["/app", "/agent", "/ad", "/"])))
        case "u": .uint32(UInt32(random.below(2_000_000)))
        case "ay": .bytes((0..<random.below(600)).map { UInt8(truncatingIfNeeded: $0) })
        case "v": .variant(value(of: pick(["b", "s", "u", "ay", "a{sv}"])))
        case "a{sv}": .properties(options())
        default: .structure([.byte(1)])
        }
    }

    private mutating func options() -> [String: DBusValue] {
        var options: [String: DBusValue] = [:]
        for _ in 0..<random.below(3) {
            let key = pick(["offset", "type", "UUIDs", "RSSI", "Transport", "DuplicateData", "x"])
            options[key] = pick([
                .uint16(UInt16(random.below(700))), .string(pick(["command", "request", "le", "?"])),
                .strings(["180D"]), .int16(-70), .boolean(true), .bytes([1]),
            ])
        }
        return options
    }

    // MARK: Steps

    mutating func step() {
        now += .milliseconds(Int64(random.below(400)))
        switch random.below(12) {
        case 0...4: call()
        case 5: reply()
        case 6, 7: report()
        case 8: respond()
        case 9: peripheral()
        case 10: pairing()
        default: other()
        }
    }

    private mutating func call() {
        let path = path()
        let interfaces =
            ["org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable"]
            + (daemon.context.tree.interfaces(at: path) ?? [])
        let interface = pick(interfaces)
        let methods = daemon.context.interfaces[interface]?.methods ?? []
        guard let method = pickOptional(methods) else { return }
        let arguments = method.arguments.map { value(of: $0.value) }
        lastCall += 1
        let id = ClientCallID(rawValue: lastCall)
        answers[id] = 0
        calls[id] = "\(method.name) on \(path)"
        let signature = chance(95) ? arguments.map(\.type.text).joined() : "ii"
        handle(
            .call(
                ClientCall(
                    id: id, sender: client(), path: path, interface: chance(90) ? interface : "", member: method.name,
                    signature: signature, arguments: arguments)))
    }

    private mutating func reply() {
        guard let index = requests.indices.randomElement(using: &random) else { return }
        let request = requests.remove(at: index)
        let replies: [Result<[DBusValue], DBusError>] = [
            .success([]), .success([.bytes([1, 2])]), .success([.uint32(123)]), .success([.string("?")]),
            .success([application()]),
            .success([.properties(["Type": .string("peripheral"), "LocalName": .string("n")])]),
            .failure(DBusError(name: "org.bluez.Error.Rejected", message: "")),
            .failure(DBusError(name: "org.bluez.Error.NotSupported", message: "")),
            .failure(DBusError(name: DBusError.Name.noReply, message: "")),
        ]
        handle(.reply(request.id, pick(replies)))
    }

    private mutating func application() -> DBusValue {
        ServingTests.objects([
            ("/app/s", "org.bluez.GattService1", ["UUID": .string(pick(["180D", "FFF0", "1800", "?"]))]),
            (
                "/app/s/c", "org.bluez.GattCharacteristic1",
                [
                    "UUID": .string("FFF1"), "Service": .objectPath(.constant("/app/s")),
                    "Flags": .strings([pick(["read", "write", "notify", "write-without-response"]), "?"]),
                    pick(["NotifyAcquired", "x"]): .boolean(false),
                ]
            ),
            (
                "/app/m", "org.bluez.AdvertisementMonitor1",
                [
                    "Type": .string("or_patterns"),
                    "Patterns": .array(
                        .structure([.byte, .byte, .array(.byte)]), [.structure([.byte(0), .byte(1), .bytes([6])])]),
                ]
            ),
        ])
    }

    private mutating func report() {
        let (index, peer) = (adapter(), peer())
        switch random.below(10) {
        case 0...3:
            let discovery = Discovery(
                peer: peer, name: nil,
                advertisement: Advertisement(
                    localName: "n", serviceUUIDs: ["180D"],
                    manufacturerData: Data([1, 2].prefix(Int(random.below(3)))),
                    isConnectable: chance(80)),
                rssi: -Int(random.below(100)), address: "C0:DE:00:00:00:0\(peer.uuid.uuid.0)")
            handle(.central(adapter: index, .discovered(discovery)))
        case 4, 5:
            guard let (peer, operation) = pickOptional(connects) else { return }
            lastLink += 1
            let link = LinkID(rawValue: lastLink)
            links[link] = peer
            let parameters = LinkParameters(mtu: 23 + Int(random.below(200)), writeCredits: 3)
            handle(
                .central(
                    adapter: index, .connected(peer: peer, link: link, operation: operation, parameters: parameters)))
        case 6:
            guard let link = pickOptional(links.keys.sorted()) else { return }
            links[link] = nil
            handle(
                .central(
                    adapter: index, .disconnected(link: link, reason: .remote, at: Date(), isReconnecting: false)))
        case 7:
            guard let link = pickOptional(links.keys.sorted()) else { return }
            handle(.central(adapter: index, .valueNotified(link: link, attribute: 2, value: Data([1]))))
            handle(.central(adapter: index, .servicesChanged(link: link, removed: [1], added: [])))
        case 8:
            guard let (peer, operation) = pickOptional(connects) else { return }
            let error = BackendError(.connectionFailed, operation: "connect")
            handle(.central(adapter: index, .connectFailed(peer: peer, operation: operation, error: error)))
        default:
            handle(.central(adapter: index, .stateChanged(pick([.poweredOn, .poweredOn, .poweredOff, .resetting]))))
        }
    }

    private mutating func respond() {
        for _ in 0..<8 {
            guard let index = operations.indices.randomElement(using: &random) else { return }
            let (link, operation, request) = operations.remove(at: index)
            let response: LinkResponse =
                chance(10) ? .failure(.att(0x05, operation: "x")) : DaemonFixture.answer(to: request)
            for adapter in 0..<2 {
                handle(.central(adapter: adapter, .response(link: link, operation: operation, response)))
            }
        }
    }

    private mutating func peripheral() {
        let (index, peer) = (adapter(), peer())
        let attribute = AttributeID(rawValue: UInt32(random.below(6)))
        let request = RequestID(rawValue: random.below(100))
        let events: [PeripheralEvent] = [
            .subscribed(central: peer, attribute: attribute, mtu: 23, notifyCredits: 2),
            .unsubscribed(central: peer, attribute: attribute), .notifyCredits(central: peer, count: 1),
            .readRequested(request: request, central: peer, attribute: attribute, offset: 0, mtu: 23),
            .writeRequested(
                request: request, central: peer, mtu: 23, wantsResponse: chance(50),
                parts: [WritePart(attribute: attribute, offset: 0, value: Data([1]))]),
        ]
        handle(.peripheral(adapter: index, pick(events)))
        if let operation = added.popLast() {
            let error = BackendError(.uuidNotAllowed, operation: "add")
            handle(
                .peripheral(
                    adapter: index,
                    chance(80)
                        ? .serviceAdded(operation: operation) : .operationFailed(operation: operation, error: error)))
        }
        if let (id, operation) = advertisers.popLast() {
            handle(.advertiser(adapter: index, id, .advertisingStarted(operation: operation)))
        }
        let facts = PeerFacts(peer: peer, address: DeviceAddress(bits: 0xC0DE_0000_0000 + UInt64(peer.uuid.uuid.0)))
        handle(chance(50) ? .centralConnected(adapter: index, facts) : .centralDisconnected(adapter: index, peer))
    }

    private mutating func pairing() {
        let (index, peer) = (adapter(), peer())
        let request = PairingRequestID(rawValue: random.below(5))
        let error = BackendError(.invalidParameters, operation: "pair")
        let events: [PairingEvent] = [
            .requested(request: request, peer: peer, question: pick([.consent, .enterPasskey, .display(passkey: 1)])),
            .cancelled(request: request), .paired(peer: peer, operation: nil, isBonded: chance(80)),
            .pairingFailed(peer: peer, operation: nil, error: error), .unpaired(peer: peer, operation: nil),
        ]
        handle(.pairing(adapter: index, pick(events)))
    }

    private mutating func other() {
        switch random.below(4) {
        case 0: handle(.clientLeft(client()))
        case 1: if let timer = pickOptional(timers) { handle(.timer(timer)) }
        case 2:
            if let socket = pickOptional(sockets) {
                handle(chance(50) ? .closed(socket) : .received(socket, Data([1])))
            }
        default:
            let signal = ClientSignal(
                sender: client(), path: .constant(pick(["/app", "/app/s/c", "/ad"])),
                interface: pick(["org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"]),
                member: pick(["PropertiesChanged", "InterfacesRemoved", "InterfacesAdded"]),
                arguments: pick([
                    [], [.string("org.bluez.GattCharacteristic1"), .properties(["Value": .bytes([1])]), .strings([])],
                    [.objectPath(.constant("/app/s")), .strings(["org.bluez.GattService1"])],
                ]))
            handle(.signal(signal))
        }
    }

    // MARK: Outputs

    private mutating func handle(_ input: DaemonInput) {
        for output in daemon.handle([input], at: now) { handle(output) }
    }

    private mutating func handle(_ output: DaemonOutput) {
        switch output {
        case .answer(let call, _), .refuse(let call, _): answers[call, default: 0] += 1
        case .answerWithSocket(let call, let socket, _):
            answers[call, default: 0] += 1
            sockets.append(socket)
        case .adopt(let socket, _): sockets.append(socket)
        case .request(let request): requests.append(request)
        case .central(_, .connect(let peer, let operation, _)): connects.append((peer, operation))
        case .central(_, .request(let link, let operation, let request)): operations.append((link, operation, request))
        case .peripheral(_, .addService(let operation, _)): added.append(operation)
        case .advertiser(_, let id, .startAdvertising(let operation, _)): advertisers.append((id, operation))
        case .schedule(let timer, _): timers.append(timer)
        default: break
        }
    }

    /// Removes all clients and all adapters, after which no call may wait.
    mutating func end() {
        for number in 1...4 { handle(.clientLeft(":1.\(number)")) }
        for adapter in 0..<2 { handle(.central(adapter: adapter, .stateChanged(.unsupported))) }
        while let request = requests.popLast() {
            handle(.reply(request.id, .failure(DBusError(name: DBusError.Name.noReply, message: ""))))
        }
    }
}
