#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import Glibc
import Synchronization

/// An `org.bluez` on a private bus that behaves like a healthy daemon, until a test replaces a handler.
public final class ScriptedBlueZ: Sendable {
    /// The objects and the handlers, for tests that need other behavior.
    public let service: ScriptedService
    /// `/org/bluez/hci0`.
    public static let adapter = "/org/bluez/hci0"
    /// The adapter's address.
    public static let adapterAddress = "00:11:22:33:44:55"

    /// Interface names.
    public enum Interface {
        /// `org.bluez.Adapter1`.
        public static let adapter = "org.bluez.Adapter1"
        /// `org.bluez.Device1`.
        public static let device = "org.bluez.Device1"
        /// `org.bluez.GattService1`.
        public static let service = "org.bluez.GattService1"
        /// `org.bluez.GattCharacteristic1`.
        public static let characteristic = "org.bluez.GattCharacteristic1"
        /// `org.bluez.GattDescriptor1`.
        public static let descriptor = "org.bluez.GattDescriptor1"
    }

    /// Values of attributes, by path.
    private let values = Lock<[String: [UInt8]]>([:])
    /// The daemon's ends of sockets for notifications, by the path of the characteristic.
    private let notificationSockets = Lock<[String: DBusFileDescriptor]>([:])

    /// The agents of all programs.
    let agents = Lock(ScriptedAgents())

    /// Joins the bus with one adapter.
    public init(on bus: PrivateBus, isPowered: Bool = true) throws {
        service = try ScriptedService(on: bus)
        addAdapter(isPowered: isPowered)
        answerAdapter()
        answerDevice()
        answerAttributes()
        answerAgents()
        try start()
    }

    /// Owns `org.bluez`, on the current connection or on a new one.
    public func start() throws {
        service.stop()
        try service.start(owning: "org.bluez")
    }

    /// Ends as `bluetoothd` does when it is killed: the objects of devices and attributes are gone.
    public func kill() {
        service.stop()
        agents.withLock { $0 = ScriptedAgents() }
        if service.paths.contains(Self.adapter) { setPairable(false) }
        for path in service.paths where path.hasPrefix(Self.adapter + "/") { service.remove(path, announce: false) }
    }

    /// Plugs the adapter in.
    public func addAdapter(isPowered: Bool = true) {
        service.add(
            Self.adapter,
            [
                Interface.adapter: [
                    "Address": .string(Self.adapterAddress), "Powered": .boolean(isPowered),
                    "Discovering": .boolean(false), "Pairable": .boolean(false),
                    "Roles": .strings(["central", "peripheral"]),
                ]
            ])
    }

    /// Switches the adapter, as another program would.
    public func setPowered(_ isPowered: Bool) {
        if !isPowered {
            for path in service.paths where service.property(path, Interface.device, "Connected") == .boolean(true) {
                service.set(
                    path, Interface.device, ["Connected": .boolean(false), "ServicesResolved": .boolean(false)])
            }
        }
        service.set(Self.adapter, Interface.adapter, ["Powered": .boolean(isPowered)])
    }

    // MARK: Devices

    /// The path of a device's object.
    public static func path(of address: String) -> String {
        adapter + "/dev_" + address.split(separator: ":").joined(separator: "_")
    }

    /// Adds a known device.
    ///
    /// A device with an RSSI has just been heard.
    @discardableResult
    public func addDevice(
        _ address: String, name: String? = nil, services: [String] = [], rssi: Int16? = -60,
        properties: [String: DBusValue] = [:]
    ) -> String {
        var values: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string("random"), "Connected": .boolean(false),
            "Paired": .boolean(false), "ServicesResolved": .boolean(false), "UUIDs": .strings(services),
        ]
        if let name { values["Name"] = .string(name) }
        if let rssi { values["RSSI"] = .int16(rssi) }
        let path = Self.path(of: address)
        service.add(path, [Interface.device: values.merging(properties) { $1 }])
        return path
    }

    /// Hears a known device again.
    public func advertise(_ path: String, rssi: Int16, _ properties: [String: DBusValue] = [:]) {
        service.set(path, Interface.device, properties.merging(["RSSI": .int16(rssi)]) { $1 })
    }

    /// Ends a link as the peer would, with the reason that daemons report from 5.83 on.
    public func dropLink(_ path: String, reason: String? = nil) {
        notificationSockets.withLock { sockets in sockets = sockets.filter { !$0.key.hasPrefix(path + "/") } }
        service.set(path, Interface.device, ["ServicesResolved": .boolean(false)])
        if let reason {
            service.emit(path, Interface.device, "Disconnected", [.string("org.bluez.Reason." + reason), .string("")])
        }
        service.set(path, Interface.device, ["Connected": .boolean(false)])
    }

    // MARK: Attributes

    /// Adds a service below a device.
    @discardableResult
    public func addService(_ device: String, handle: String, uuid: String, isPrimary: Bool = true) -> String {
        let path = "\(device)/service\(handle)"
        service.add(
            path,
            [
                Interface.service: [
                    "UUID": .string(uuid), "Primary": .boolean(isPrimary), "Device": value(device),
                    "Includes": .objectPaths([]),
                ]
            ])
        return path
    }

    /// Adds a characteristic below a service.
    @discardableResult
    public func addCharacteristic(
        _ parent: String, handle: String, uuid: String, flags: [String], value initial: [UInt8] = [], mtu: UInt16? = nil
    ) -> String {
        let path = "\(parent)/char\(handle)"
        values.withLock { $0[path] = initial }
        var properties: [String: DBusValue] = [
            "UUID": .string(uuid), "Service": value(parent), "Flags": .strings(flags), "Notifying": .boolean(false),
        ]
        if let mtu { properties["MTU"] = .uint16(mtu) }
        service.add(path, [Interface.characteristic: properties])
        return path
    }

    /// Adds a descriptor below a characteristic.
    @discardableResult
    public func addDescriptor(_ parent: String, handle: String, uuid: String, value initial: [UInt8] = []) -> String {
        let path = "\(parent)/desc\(handle)"
        values.withLock { $0[path] = initial }
        service.add(path, [Interface.descriptor: ["UUID": .string(uuid), "Characteristic": value(parent)]])
        return path
    }

    /// Returns the current value of an attribute.
    public func value(at path: String) -> [UInt8] { values.withLock { $0[path] ?? [] } }

    /// Sends a notification, on the socket of the characteristic if it was acquired, otherwise as a signal.
    public func notify(_ path: String, _ value: [UInt8]) {
        if let socket = notificationSockets.withLock({ $0[path] }) {
            _ = send(socket.rawValue, value, value.count, CInt(MSG_NOSIGNAL))
            return
        }
        service.set(path, Interface.characteristic, ["Value": .bytes(value)])
    }

    private func value(_ path: String) -> DBusValue { .objectPath(ObjectPath(path) ?? .root) }

    // MARK: Methods

    private static func failed(_ text: String) -> ScriptedService.Answer {
        .error(DBusError(name: "org.bluez.Error.Failed", message: text))
    }

    private func answerAdapter() {
        service.on(Interface.adapter, "SetDiscoveryFilter") { _ in .values([]) }
        service.on(Interface.adapter, "StartDiscovery") { [weak self] call in
            self?.service.set(call.path, Interface.adapter, ["Discovering": .boolean(true)])
            return .values([])
        }
        service.on(Interface.adapter, "StopDiscovery") { [weak self] call in
            guard let self else { return .none }
            // Stopping removes the signal strength.
            for path in self.service.paths where self.service.property(path, Interface.device, "RSSI") != nil {
                self.service.set(path, Interface.device, [:], removing: ["RSSI"])
            }
            self.service.set(call.path, Interface.adapter, ["Discovering": .boolean(false)])
            return .values([])
        }
    }

    private func answerDevice() {
        service.on(Interface.device, "Connect") { [weak self] call in
            guard let self, self.service.paths.contains(call.path) else { return Self.unknownObject(call) }
            self.service.set(call.path, Interface.device, ["Connected": .boolean(true)])
            self.service.set(call.path, Interface.device, ["ServicesResolved": .boolean(true)])
            return .values([])
        }
        service.on(Interface.device, "Disconnect") { [weak self] call in
            guard let self else { return .none }
            if self.service.property(call.path, Interface.device, "Connected") == .boolean(true) {
                self.dropLink(call.path, reason: "Local")
            }
            return .values([])
        }
    }

    private static func unknownObject(_ call: ScriptedCall) -> ScriptedService.Answer {
        .error(DBusError(name: DBusError.Name.unknownObject, message: call.path))
    }

    private func answerAttributes() {
        for interface in [Interface.characteristic, Interface.descriptor] {
            service.on(interface, "ReadValue") { [weak self] call in
                guard let self else { return .none }
                let value = self.value(at: call.path)
                self.service.set(call.path, interface, ["Value": .bytes(value)])
                return .values([.bytes(value)])
            }
            service.on(interface, "WriteValue") { [weak self] call in
                self?.values.withLock { $0[call.path] = call.body.first?.bytesValue ?? [] }
                return .values([])
            }
        }
        service.on(Interface.characteristic, "StartNotify") { [weak self] call in
            self?.service.set(call.path, Interface.characteristic, ["Notifying": .boolean(true)])
            return .values([])
        }
        service.on(Interface.characteristic, "AcquireNotify") { [weak self] in self?.acquireNotify($0) ?? .none }
        service.on(Interface.characteristic, "StopNotify") { [weak self] call in
            self?.service.set(call.path, Interface.characteristic, ["Notifying": .boolean(false)])
            return .values([])
        }
    }

    private func acquireNotify(_ call: ScriptedCall) -> ScriptedService.Answer {
        if let socket = notificationSockets.withLock({ $0[call.path] }), !Self.hasHungUp(socket) {
            return .error(DBusError(name: "org.bluez.Error.NotPermitted", message: "Notify acquired"))
        }
        if service.property(call.path, Interface.characteristic, "Notifying") == .boolean(true) {
            return .error(DBusError(name: "org.bluez.Error.InProgress", message: "In Progress"))
        }
        var ends: [CInt] = [-1, -1]
        let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else { return Self.failed("no sockets") }
        let socket = DBusFileDescriptor(adopting: ends[0])
        notificationSockets.withLock { $0[call.path] = socket }
        return .values([.fileDescriptor(DBusFileDescriptor(adopting: ends[1])), .uint16(247)])
    }

    private static func hasHungUp(_ socket: DBusFileDescriptor) -> Bool {
        var state = pollfd(fd: socket.rawValue, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & CShort(POLLHUP) != 0
    }
}
#endif
