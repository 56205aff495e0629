public import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

@testable import EmulatedBlueZ

/// An emulated daemon without a bus and without a controller, whose outputs are lines to compare.
struct DaemonFixture {
    static let adapter = "/org/bluez/hci0"
    static let peer = PeerID(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    static let device = "/org/bluez/hci0/dev_C0_DE_00_00_18_0D"
    static let link = LinkID(rawValue: 1)

    private(set) var daemon: BluetoothDaemon
    var context: DaemonContext { daemon.context }
    private var now = Duration.zero
    private var lastCall: UInt64 = 0
    /// The outputs that ``lines()`` has not returned yet.
    private(set) var outputs: [DaemonOutput] = []

    init(
        _ configuration: EmulatedBlueZConfiguration = EmulatedBlueZConfiguration(), name: String = "default",
        bonds: [PeerFacts] = []
    ) {
        daemon = BluetoothDaemon(configuration)
        handle(.hostAdded(HostFacts(name: name, address: "F0:00:00:00:00:01", isPowered: true, bonds: bonds)))
        outputs = []
    }

    mutating func handle(_ inputs: DaemonInput...) { outputs += daemon.handle(inputs, at: now) }

    mutating func pass(_ duration: Duration) { now += duration }

    // MARK: Clients

    /// Calls a method; the number of the call is also in the line of its answer.
    @discardableResult
    mutating func call(
        _ member: String, _ arguments: DBusValue..., on path: String = adapter,
        _ interface: String = "org.bluez.Adapter1",
        from sender: String = ":1.1"
    ) -> ClientCallID {
        lastCall += 1
        let id = ClientCallID(rawValue: lastCall)
        handle(
            .call(
                ClientCall(
                    id: id, sender: sender, path: .constant(path), interface: interface, member: member,
                    signature: arguments.map(\.type.text).joined(), arguments: arguments)))
        return id
    }

    /// Sends a signal of a standard interface.
    mutating func signal(
        _ member: String, of interface: String, at path: String, _ arguments: DBusValue..., from sender: String = ":1.1"
    ) {
        handle(
            .signal(
                ClientSignal(
                    sender: sender, path: .constant(path), interface: "org.freedesktop.DBus." + interface,
                    member: member, arguments: arguments)))
    }

    /// Registers the application at `/app`, whose objects the daemon then requests.
    mutating func registerApplication() {
        call(
            "RegisterApplication", .objectPath(.constant("/app")), .properties([:]), on: Self.adapter,
            "org.bluez.GattManager1")
    }

    /// Withdraws an object of the client.
    mutating func withdraw(
        _ path: String, _ interface: String, of root: String, from sender: String = ":1.1"
    ) {
        signal(
            "InterfacesRemoved", of: "ObjectManager", at: root, .objectPath(.constant(path)), .strings([interface]),
            from: sender)
    }

    /// Answers the last call of the daemon to a client.
    mutating func reply(_ values: DBusValue...) { reply(.success(values)) }

    mutating func reply(_ result: Result<[DBusValue], DBusError>) {
        if let request = lastRequest { handle(.reply(request.id, result)) }
    }

    var lastRequest: RequestToClient? {
        outputs.reversed().lazy.compactMap { output -> RequestToClient? in
            if case .request(let request) = output { request } else { nil }
        }.first
    }

    // MARK: The controller

    static func discovery(
        rssi: Int = -60, name: String? = "Heart", services: [BluetoothUUID]? = ["180D"], manufacturerData: Data? = nil,
        isConnectable: Bool? = true
    ) -> Discovery {
        Discovery(
            peer: peer, name: name,
            advertisement: Advertisement(
                localName: name, serviceUUIDs: services, manufacturerData: manufacturerData,
                isConnectable: isConnectable),
            rssi: rssi, address: "C0:DE:00:00:18:0D")
    }

    mutating func hear(_ discovery: Discovery = discovery()) { handle(.central(adapter: 0, .discovered(discovery))) }

    mutating func report(_ event: CentralEvent) { handle(.central(adapter: 0, event)) }

    /// Responds to the last request on the link.
    mutating func respond(_ response: LinkResponse) {
        guard let operation = lastOperation else { return }
        report(.response(link: Self.link, operation: operation, response))
    }

    private var lastOperation: OperationID? {
        outputs.reversed().lazy.compactMap { output -> OperationID? in
            if case .central(_, .request(_, let operation, _)) = output { operation } else { nil }
        }.first
    }

    /// Returns a fixture whose device is heard, connected and discovered, without lines left to compare.
    static func connected(
        _ configuration: EmulatedBlueZConfiguration = EmulatedBlueZConfiguration(), credits: Int = 10
    ) -> DaemonFixture {
        var fixture = DaemonFixture(configuration)
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.call("Connect", on: device, "org.bluez.Device1")
        fixture.becomeConnected(credits: credits)
        _ = fixture.lines()
        return fixture
    }

    /// Opens the link, and answers the discovery with one service and a few characteristics.
    mutating func becomeConnected(credits: Int = 10) {
        let parameters = LinkParameters(mtu: 100, writeCredits: credits)
        report(
            .connected(peer: Self.peer, link: Self.link, operation: OperationID(rawValue: 0), parameters: parameters))
        answerDiscovery()
    }

    /// Answers all requests of a discovery.
    mutating func answerDiscovery() {
        var handled: Set<OperationID> = []
        while let (operation, request) = nextDiscovery(besides: handled) {
            handled.insert(operation)
            report(.response(link: Self.link, operation: operation, Self.answer(to: request)))
        }
    }

    private func nextDiscovery(besides handled: Set<OperationID>) -> (OperationID, LinkRequest)? {
        for case .central(_, .request(_, let operation, let request)) in outputs
        where request.isDiscovery && !handled.contains(operation) { return (operation, request) }
        return nil
    }

    static func answer(to request: LinkRequest) -> LinkResponse {
        switch request {
        case .discoverServices: .services([ServiceRecord(id: 1, uuid: "180D", isPrimary: true, handle: 8)])
        case .discoverCharacteristics:
            .characteristics([
                CharacteristicRecord(id: 2, uuid: "2A37", properties: [.notify], handle: 10),
                CharacteristicRecord(id: 4, uuid: "2A38", properties: [.read, .write], handle: 13),
                CharacteristicRecord(id: 5, uuid: "FFF1", properties: [.writeWithoutResponse], handle: 15),
            ])
        case .discoverDescriptors(2): .descriptors([DescriptorRecord(id: 3, uuid: "2902", handle: 11)])
        case .discoverDescriptors: .descriptors([])
        case .read: .value(Data([1]))
        case .write: .written
        case .setNotifying(_, let isOn): .notifying(isOn)
        default: .services([])
        }
    }

    // MARK: Lines

    /// Returns the outputs since the last call, one line each.
    mutating func lines() -> [String] { exchange(&outputs, with: []).map(Self.line) }

    static func line(_ output: DaemonOutput) -> String {
        switch output {
        case .answer(let call, let values):
            (["answer \(call.rawValue)"] + values.map(text)).joined(separator: " ")
        case .refuse(let call, let error):
            "refuse \(call.rawValue) \(error.name.split(separator: ".").last ?? ""): \(error.message)"
        case .signal(let signal): line(signal)
        case .request(let request):
            ([":\(request.destination.split(separator: ":").last ?? "")", request.path.text, request.member]
                + request.arguments.map(text)).joined(separator: " ")
        case .central(_, let command): "central \(command.kind)"
        case .peripheral(_, let command): "peripheral \(command.kind)"
        case .pairing(_, let command): "pairing \(command)"
        case .openAdvertiser: "open advertiser"
        case .advertiser(_, _, let command): "advertiser \(command.kind)"
        case .closeAdvertiser: "close advertiser"
        case .host(_, let action): "host \(action)"
        case .readAppearance: "read appearance"
        case .watch(let client): "watch \(client)"
        case .schedule(_, let delay): "schedule \(delay)"
        case .answerWithSocket(let call, _, let mtu): "answer \(call.rawValue) with a socket, MTU \(mtu)"
        case .adopt: "adopt a socket"
        case .send(_, let data): "send \(data.hexText)"
        case .close: "close a socket"
        case .remark(let text): "remark \(text)"
        }
    }

    private static func line(_ signal: ObjectTree.Signal) -> String {
        let name = signal.path.text.split(separator: "/").last.map(String.init) ?? "/"
        switch signal.member {
        case "PropertiesChanged":
            let changed = (signal.body[1].propertiesValue ?? [:]).sorted { $0.key < $1.key }
                .map { "\($0.key)=\(text($0.value))" }
            let gone = (signal.body[2].stringsValue ?? []).map { "-\($0)" }
            return ([name] + changed + gone).joined(separator: " ")
        case "InterfacesAdded":
            guard case .dictionary(let interfaces) = signal.body[1] else { return "?" }
            // Every object has the standard interfaces, which are left out.
            let names = interfaces.entries.compactMap(\.key.stringValue).filter { $0.hasPrefix("org.bluez.") }
                .compactMap { $0.split(separator: ".").last }
            return (["added \(text(signal.body[0]))"] + names.map(String.init)).joined(separator: " ")
        case "InterfacesRemoved":
            // The names of the interfaces matter if the object stays.
            let names = (signal.body[1].stringsValue ?? []).compactMap { $0.split(separator: ".").last }
            return "removed \(text(signal.body[0]))" + (names == ["Battery1"] ? " Battery1" : "")
        default:
            let interface = signal.interface.split(separator: ".").dropFirst(2).joined(separator: ".")
            return ([name, interface, signal.member] + signal.body.map(text)).joined(separator: " ")
        }
    }

    static func text(_ value: DBusValue) -> String {
        switch value {
        case .boolean(let value): "\(value)"
        case .byte(let value): "\(value)"
        case .int16(let value): "\(value)"
        case .uint16(let value): "\(value)"
        case .uint32(let value): "\(value)"
        case .string(let value): value
        case .objectPath(let path): path.text.split(separator: "/").last.map(String.init) ?? "/"
        case .bytes(let bytes): "0x" + Data(bytes).hexText
        case .array(_, let values): "[" + values.map(text).joined(separator: " ") + "]"
        case .structure(let values): "(" + values.map(text).joined(separator: " ") + ")"
        case .variant(let value): text(value)
        case .dictionary(let dictionary):
            "{" + dictionary.entries.map { "\(text($0.key)):\(text($0.value))" }.joined(separator: " ") + "}"
        default: "?"
        }
    }
}

extension AttributeID: ExpressibleByIntegerLiteral {
    /// Creates the identity of an attribute from its number.
    public init(integerLiteral value: UInt32) { self.init(rawValue: value) }
}
