#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

@testable import BlueZ

/// A ``CentralRoleMachine`` with a fake daemon; its effects are stored until a test checks them.
struct CentralRoleFixture: FakeDaemon {
    static let adapter = path("/org/bluez/hci0")
    static let device = path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5")
    static let service = path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service0010")
    static let characteristic = path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service0010/char0011")
    static let date = Date(timeIntervalSince1970: 1_000_000)

    var host: CentralRoleMachine
    var calls: [(id: CallID, call: MethodCall)] = []
    /// Events that were delivered, in order.
    private(set) var events: [CentralEvent] = []
    private(set) var eventsByManager: [HostLedger.Manager: [CentralEvent]] = [:]
    private(set) var refreshes = 0
    /// The actions on sockets for write commands.
    private(set) var sockets: [(socket: LinkSocketID, action: WriteSocket.Action)] = []
    /// The actions on sockets for notifications.
    private(set) var notificationSockets: [(socket: LinkSocketID, action: NotificationSockets.Action)] = []
    /// Peers with which an operation failed because of missing security.
    private(set) var insecure: [PeerID] = []
    /// The reports of the need for pairing.
    private(set) var pairingNeeds: [Bool] = []
    /// Requests for channels that have no answer yet.
    private(set) var openings: [(id: CallID, local: L2CAPAddress, peer: L2CAPAddress)] = []
    /// Requests for the signal strength of a link that have no answer yet.
    private(set) var strengths: [(id: CallID, peer: L2CAPAddress, controller: ControllerID)] = []
    /// The actions on open channels.
    private(set) var actions: [(channel: ChannelID, action: ChannelPool.Action)] = []
    /// The states that were preserved for a later process, in order; nil for none.
    private(set) var kept: [PreservedCentral?] = []
    /// The warnings that were logged.
    private(set) var warnings: [String] = []
    /// The duration of each timer that was started, running or not.
    private(set) var durations: [CentralTimer: Duration] = [:]

    init(
        adapter: String? = nil, notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify
    ) {
        host = CentralRoleMachine(
            selector: AdapterSelector(adapter), objects: ObjectModel(), notificationMethod: notificationMethod)
    }

    /// Returns a fixture whose adapter is on, with manager 1.
    static func poweredOn(
        notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify
    ) -> CentralRoleFixture {
        var fixture = CentralRoleFixture(notificationMethod: notificationMethod)
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([adapter: adapterObject()]))
        fixture.clear()
        return fixture
    }

    /// Returns a fixture with a link of manager 1 to the one device, and its identifier.
    static func connected(
        objects: [(ObjectPath, DaemonMessage.Interfaces)] = CentralRoleFixture.attributes(),
        notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify
    ) -> (CentralRoleFixture, PeerID, LinkID) {
        var fixture = poweredOn(notificationMethod: notificationMethod)
        let peer = fixture.addDevice()
        for (path, interfaces) in objects { fixture.receive(.interfacesAdded(path, interfaces)) }
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        fixture.set(device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.set(device, "org.bluez.Device1", ["ServicesResolved": .boolean(true)])
        fixture.answer("Connect")
        var link = LinkID(rawValue: 0)
        for case .connected(_, let id, _, _) in fixture.events { link = id }
        fixture.clear()
        return (fixture, peer, link)
    }

    /// Discovers the first service on a link, and the first characteristic in it.
    mutating func discover(on link: LinkID) -> (service: AttributeID, characteristic: AttributeID) {
        var (service, characteristic) = (AttributeID(rawValue: 0), AttributeID(rawValue: 0))
        command(.request(link: link, operation: OperationID(rawValue: 50), .discoverServices(nil)))
        for case .response(_, _, .services(let records)) in events { service = records.first?.id ?? service }
        command(.request(link: link, operation: OperationID(rawValue: 51), .discoverCharacteristics(of: service, nil)))
        for case .response(_, _, .characteristics(let records)) in events {
            characteristic = records.first?.id ?? characteristic
        }
        clear()
        return (service, characteristic)
    }

    // MARK: Objects

    static func path(_ text: String) -> ObjectPath { ObjectPath(text) ?? .root }

    static func adapterObject(
        address: String = "00:11:22:33:44:55", isPowered: Bool = true, roles: [String]? = ["central", "peripheral"]
    ) -> DaemonMessage.Interfaces {
        var properties: [String: DBusValue] = ["Address": .string(address), "Powered": .boolean(isPowered)]
        if let roles { properties["Roles"] = .strings(roles) }
        return ["org.bluez.Adapter1": properties]
    }

    static func deviceObject(
        address: String = "F0:F1:F2:F3:F4:F5", _ properties: [String: DBusValue] = [:]
    ) -> DaemonMessage.Interfaces {
        let base: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string("random"), "Connected": .boolean(false),
            "ServicesResolved": .boolean(false),
        ]
        return ["org.bluez.Device1": base.merging(properties) { $1 }]
    }

    /// Returns a service 180D with a characteristic 2A37 that has all properties.
    static func attributes() -> [(ObjectPath, DaemonMessage.Interfaces)] {
        [
            (
                service,
                [
                    "org.bluez.GattService1": [
                        "UUID": .string("0000180d-0000-1000-8000-00805f9b34fb"), "Primary": .boolean(true),
                    ]
                ]
            ),
            (
                characteristic,
                [
                    "org.bluez.GattCharacteristic1": [
                        "UUID": .string("00002a37-0000-1000-8000-00805f9b34fb"),
                        "Flags": .strings(["read", "write", "write-without-response", "notify"]),
                    ]
                ]
            ),
        ]
    }

    /// Adds the one device, and returns its identifier.
    mutating func addDevice(_ properties: [String: DBusValue] = ["RSSI": .int16(-50)]) -> PeerID {
        receive(.interfacesAdded(Self.device, Self.deviceObject(properties)))
        return peer(at: Self.device)
    }

    func peer(at path: ObjectPath) -> PeerID {
        host.directory.peer(at: path) ?? PeerID(UUID())
    }

    // MARK: Inputs

    mutating func input(_ input: CentralRoleInput) {
        for effect in host.handle(input, at: Self.date) {
            switch effect {
            case .call(let id, let call): calls.append((id, call))
            case .deliver(let manager, let event):
                events.append(event)
                eventsByManager[manager, default: []].append(event)
            case .openChannel(let id, let local, let peer): openings.append((id, local, peer))
            case .readSignalStrength(let id, let peer, let controller): strengths.append((id, peer, controller))
            case .channel(let channel, let action): actions.append((channel, action))
            case .socket(let socket, let action): sockets.append((socket, action))
            case .notificationSocket(let socket, let action): notificationSockets.append((socket, action))
            case .refresh: refreshes += 1
            case .preserve(_, let state): kept.append(state)
            case .securityFailed(let peer): insecure.append(peer)
            case .pairingNeedChanged(let isNeeded): pairingNeeds.append(isNeeded)
            case .log(let message): if message.level == .warning { warnings.append(message.text) }
            case .startTimer(let timer, let duration): durations[timer] = duration
            case .stopTimer: break
            }
        }
    }

    mutating func receive(_ message: DaemonMessage) {
        input(.daemon(message.apply(to: host.objects)))
    }

    mutating func command(_ command: CentralCommand, from manager: HostLedger.Manager = 1) {
        input(.command(manager, command))
    }

    mutating func set(
        _ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], removing removed: [String] = []
    ) {
        receive(.propertiesChanged(path, interface, values, removed: removed))
    }

    /// Sends a notification, or the echo of a read.
    mutating func value(_ bytes: [UInt8]) {
        set(Self.characteristic, "org.bluez.GattCharacteristic1", ["Value": .bytes(bytes)])
    }

    mutating func fire(_ timer: CentralTimer) { input(.timer(timer)) }

    mutating func reply(_ id: CallID, _ result: Result<MethodReply, DBusError>) { input(.reply(id, result)) }

    /// Answers the oldest request for a channel.
    mutating func answerChannel(_ result: Result<ChannelPool.Opening, BackendError>) {
        guard !openings.isEmpty else { return }
        input(.channelReply(openings.removeFirst().id, result))
    }

    /// Answers the oldest request for a signal strength.
    mutating func answerStrength(_ result: Result<Int, BackendError>) {
        guard !strengths.isEmpty else { return }
        input(.signalStrength(strengths.removeFirst().id, result))
    }

    /// Answers the calls of discovery, until none is left.
    mutating func answerDiscovery() {
        while answer("SetDiscoveryFilter") != nil || answer("StartDiscovery") != nil || answer("StopDiscovery") != nil {
        }
    }

    mutating func clear() {
        events = []
        eventsByManager = [:]
    }
}
#endif
