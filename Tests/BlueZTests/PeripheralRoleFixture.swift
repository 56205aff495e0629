#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// A ``PeripheralRoleMachine`` with a fake daemon; its effects are stored until a test checks them.
struct PeripheralRoleFixture: FakeDaemon {
    static let base = CentralRoleFixture.path("/org/corebluetooth/role1")
    static let manager = CentralRoleFixture.path("/org/corebluetooth/role1/manager1")
    static let one = CentralRoleFixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_01")
    static let two = CentralRoleFixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_02")

    var host: PeripheralRoleMachine
    var calls: [(id: CallID, call: MethodCall)] = []
    /// Events that were delivered, in order.
    private(set) var events: [PeripheralEvent] = []
    private(set) var eventsByManager: [HostLedger.Manager: [PeripheralEvent]] = [:]
    /// The exported objects, by path.
    private(set) var objects: [ObjectPath: ExportedObject] = [:]
    /// The outcomes of the daemon's calls.
    private(set) var answers: [UInt64: Result<[DBusValue], DBusError>] = [:]
    /// The open sockets, by the call that requested them.
    private(set) var sockets: [UInt64: SocketID] = [:]
    private(set) var closed: [SocketID] = []
    private(set) var sent: [(socket: SocketID, value: Data)] = []
    private(set) var broadcasts: [(path: ObjectPath, value: Data)] = []
    /// The requests to listen for channels.
    private(set) var listens: [(operation: OperationID, local: L2CAPAddress, isEncryptionRequired: Bool)] = []
    private(set) var stoppedListening: [UInt16] = []
    private(set) var actions: [(channel: ChannelID, action: ChannelPool.Action)] = []
    private(set) var timers: Set<PeripheralTimer> = []
    /// The duration of each timer that was started, running or not.
    private(set) var durations: [PeripheralTimer: Duration] = [:]
    /// The reports of the need for pairing.
    private(set) var pairingNeeds: [Bool] = []
    private(set) var warnings: [String] = []
    private var lastCall: UInt64 = 0

    init(_ adapter: String? = nil) {
        host = PeripheralRoleMachine(selector: AdapterSelector(adapter), objects: ObjectModel(), base: Self.base)
    }

    /// Returns a fixture whose adapter is on, with manager 1.
    ///
    /// - Parameters:
    ///   - isUnicast: Whether the daemon is 5.79 or later.
    ///   - isExtended: Whether the controller has extended advertising.
    static func poweredOn(isUnicast: Bool = false, isExtended: Bool = false) -> PeripheralRoleFixture {
        var fixture = PeripheralRoleFixture()
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        var adapter = adapterObject(isUnicast: isUnicast)
        if isExtended {
            adapter["org.bluez.LEAdvertisingManager1"] = ["SupportedSecondaryChannels": .strings(["1M"])]
        }
        fixture.receive(.snapshot([CentralRoleFixture.adapter: adapter]))
        fixture.clear()
        return fixture
    }

    /// Returns a fixture with the main service, and both centrals connected.
    static func serving(isUnicast: Bool = false) -> PeripheralRoleFixture {
        var fixture = poweredOn(isUnicast: isUnicast)
        fixture.command(.addService(operation: OperationID(rawValue: 1), service: service()))
        fixture.answer("RegisterApplication")
        fixture.connect(one)
        fixture.connect(two)
        fixture.clear()
        return fixture
    }

    static func adapterObject(isUnicast: Bool = false, isPowered: Bool = true) -> DaemonMessage.Interfaces {
        var object = CentralRoleFixture.adapterObject(isPowered: isPowered)
        if isUnicast { object["org.bluez.Adapter1"]?["Connectable"] = .boolean(true) }
        return object
    }

    // MARK: Definitions

    /// Returns service 1: 2 is read and written, 3 is static with a description, 4 notifies, 5 takes commands, 6
    /// indicates.
    static func service(
        _ first: UInt32 = 1, uuid: BluetoothUUID = "C0DE1000-0000-0000-0000-000000000000", included: [UInt32] = []
    ) -> ServiceDefinition {
        func characteristic(
            _ number: UInt32, _ properties: CharacteristicProperties, _ permissions: AttributePermissions,
            value: Data? = nil, descriptors: [ServiceDefinition.Descriptor] = []
        ) -> ServiceDefinition.Characteristic {
            ServiceDefinition.Characteristic(
                id: AttributeID(rawValue: first + number), uuid: BluetoothUUID(UInt16(0x1000 + number)),
                properties: properties, permissions: permissions, staticValue: value, descriptors: descriptors)
        }
        let description = ServiceDefinition.Descriptor(
            id: AttributeID(rawValue: first + 6), uuid: "2901", value: Data("text".utf8))
        return ServiceDefinition(
            id: AttributeID(rawValue: first), uuid: uuid, included: included.map { AttributeID(rawValue: $0) },
            characteristics: [
                characteristic(1, [.read, .write], [.readable, .writeable]),
                characteristic(2, .read, .readable, value: Data("static".utf8), descriptors: [description]),
                characteristic(3, .notify, []), characteristic(4, .writeWithoutResponse, .writeable),
                characteristic(5, .indicate, []),
            ])
    }

    /// Returns a service that only notifies, whose attributes are numbered from `first`.
    static func small(_ first: UInt32, included: [UInt32] = []) -> ServiceDefinition {
        ServiceDefinition(
            id: AttributeID(rawValue: first), uuid: BluetoothUUID(UInt16(0x2000 + first)),
            included: included.map { AttributeID(rawValue: $0) },
            characteristics: [
                ServiceDefinition.Characteristic(
                    id: AttributeID(rawValue: first + 1), uuid: "2A37", properties: .notify, permissions: [])
            ])
    }

    /// Returns the path of a published attribute.
    func path(_ attribute: UInt32, of manager: HostLedger.Manager = 1) -> ObjectPath {
        host.managers[manager]?.applications.path(of: AttributeID(rawValue: attribute)) ?? .root
    }

    func peer(_ device: ObjectPath) -> PeerID { host.directory.peer(at: device) ?? PeerID(UUID()) }

    // MARK: Inputs

    mutating func input(_ input: PeripheralRoleInput) {
        for effect in host.handle(input, at: CentralRoleFixture.date) {
            switch effect {
            case .call(let id, let call): calls.append((id, call))
            case .deliver(let manager, let event):
                events.append(event)
                eventsByManager[manager, default: []].append(event)
            case .export(let object): objects[object.path] = object
            case .withdraw(let path): objects = objects.filter { $0.key != path && !$0.key.isBelow(path) }
            case .broadcast(let path, let value): broadcasts.append((path, value))
            case .answer(let number, let values): answers[number.rawValue] = .success(values)
            case .refuse(let number, let error): answers[number.rawValue] = .failure(error)
            case .open(let socket, let number, _): sockets[number.rawValue] = socket
            case .send(let socket, let value): sent.append((socket, value))
            case .close(let socket): closed.append(socket)
            case .listen(_, let operation, let local, let isEncryptionRequired):
                listens.append((operation, local, isEncryptionRequired))
            case .stopListening(let psm): stoppedListening.append(psm)
            case .channel(let channel, let action): actions.append((channel, action))
            case .startTimer(let timer, let duration):
                timers.insert(timer)
                durations[timer] = duration
            case .stopTimer(let timer): timers.remove(timer)
            case .pairingNeedChanged(let isNeeded): pairingNeeds.append(isNeeded)
            case .log(let message): if message.level == .warning { warnings.append(message.text) }
            }
        }
    }

    mutating func command(_ command: PeripheralCommand, from manager: HostLedger.Manager = 1) {
        input(.command(manager, command))
    }

    mutating func advertise(
        _ number: UInt64 = 1, name: String? = "Served", services: [BluetoothUUID] = ["180D"]
    ) {
        command(
            .startAdvertising(
                operation: OperationID(rawValue: number),
                advertisement: Advertisement(localName: name, serviceUUIDs: services)))
    }

    mutating func receive(_ message: DaemonMessage) {
        input(.daemon(message.apply(to: host.objects)))
    }

    mutating func set(_ path: ObjectPath, _ interface: String, _ values: [String: DBusValue]) {
        receive(.propertiesChanged(path, interface, values, removed: []))
    }

    /// Reports that a program switches the power off, as bluetoothd does.
    mutating func beginTurningOff() {
        set(CentralRoleFixture.adapter, "org.bluez.Adapter1", ["PowerState": .string("on-disabling")])
    }

    mutating func setPowered(_ isPowered: Bool) {
        set(CentralRoleFixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(isPowered)])
    }

    mutating func connect(_ device: ObjectPath, isPaired: Bool = false) {
        let address = device.lastElement.dropFirst(4).split(separator: "_").joined(separator: ":")
        let properties: [String: DBusValue] = ["Connected": .boolean(true), "Paired": .boolean(isPaired)]
        receive(.interfacesAdded(device, CentralRoleFixture.deviceObject(address: address, properties)))
    }

    mutating func setConnected(_ device: ObjectPath, _ isConnected: Bool) {
        set(device, "org.bluez.Device1", ["Connected": .boolean(isConnected)])
    }

    /// Calls an exported object, as the daemon.
    ///
    /// - Returns: The call's number.
    @discardableResult
    mutating func call(_ path: ObjectPath, _ member: String, _ arguments: [DBusValue] = []) -> UInt64 {
        lastCall += 1
        input(
            .called(
                IncomingCall(
                    number: IncomingCall.Number(rawValue: lastCall), path: path, member: member, arguments: arguments)))
        return lastCall
    }

    static func options(
        _ device: ObjectPath, mtu: UInt16 = 185, _ more: [String: DBusValue] = [:]
    ) -> DBusValue {
        .properties(["device": .objectPath(device), "mtu": .uint16(mtu), "link": .string("LE")].merging(more) { $1 })
    }

    @discardableResult
    mutating func read(_ attribute: UInt32, by device: ObjectPath, offset: UInt16 = 0, mtu: UInt16 = 185) -> UInt64 {
        let more: [String: DBusValue] = offset == 0 ? [:] : ["offset": .uint16(offset)]
        return call(path(attribute), "ReadValue", [Self.options(device, mtu: mtu, more)])
    }

    @discardableResult
    mutating func write(
        _ attribute: UInt32, _ value: [UInt8], by device: ObjectPath, _ more: [String: DBusValue] = [:]
    ) -> UInt64 {
        call(path(attribute), "WriteValue", [.bytes(value), Self.options(device, more)])
    }

    /// Subscribes a central, as the daemon reports it; BlueZ uses `StartNotify` after a refusal.
    @discardableResult
    mutating func subscribe(_ attribute: UInt32, by device: ObjectPath, mtu: UInt16 = 185) -> UInt64 {
        let number = call(path(attribute), "AcquireNotify", [Self.options(device, mtu: mtu)])
        if case .failure? = answers[number] { call(path(attribute), "StartNotify") }
        return number
    }

    /// Returns the socket that a central gets when it subscribes.
    mutating func socket(subscribing device: ObjectPath, to attribute: UInt32) throws -> SocketID {
        let number = subscribe(attribute, by: device)
        return try #require(sockets[number])
    }

    mutating func update(
        _ attribute: UInt32, _ value: [UInt8], to devices: [ObjectPath], from manager: HostLedger.Manager = 1
    ) {
        command(
            .updateValue(
                attribute: AttributeID(rawValue: attribute), value: Data(value), centrals: devices.map(peer)),
            from: manager)
    }

    mutating func fire(_ timer: PeripheralTimer) {
        timers.remove(timer)
        input(.timer(timer))
    }

    /// Ends the waits for explanations.
    mutating func settle() {
        for timer in timers {
            switch timer {
            case .leaving, .quiescence: fire(timer)
            case .adapterReturn, .request: break
            }
        }
    }

    mutating func reply(_ id: CallID, _ result: Result<MethodReply, DBusError>) { input(.reply(id, result)) }

    mutating func clear() {
        events = []
        eventsByManager = [:]
        broadcasts = []
        sent = []
    }

    /// The oldest request among the events.
    var request: RequestID? {
        for event in events {
            switch event {
            case .readRequested(let id, _, _, _, _), .writeRequested(let id, _, _, _, _): return id
            default: continue
            }
        }
        return nil
    }
}
#endif
