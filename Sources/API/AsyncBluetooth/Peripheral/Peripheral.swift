public import CoreBluetooth

/// A remote device and the operations on it.
///
/// Operations connect and discover as needed, once for all tasks that wait for it. A lost link is restored by the next
/// operation. Any thread and any actor may use it. Each device has one object; the link ends with its last reference.
///
/// Operations throw ``BluetoothError``, and `CancellationError` if their task is cancelled. A cancelled command that
/// waits for its turn is not sent; the late response to one that was sent completes no other command.
public final class Peripheral: Sendable {
    let core: PeripheralCoordinator

    init(_ core: PeripheralCoordinator) { self.core = core }

    deinit { core.abandon() }

    // MARK: Identity

    /// The device's identifier on this host, which is not its address.
    public var identifier: UUID { core.identifier }

    /// The device's name; nil if unknown.
    public var name: String? { core.object.name }

    /// The state of the link.
    public var state: CBPeripheralState { core.object.state }

    // MARK: The link

    /// Connects, unless the device is connected; waits without a limit.
    public func connect() async throws {
        try await run(.connect) { [core] in _ = try await core.connectedLink() }
    }

    /// Ends the link and all pending operations on it with ``BluetoothError/Reason/cancelled``.
    ///
    /// Returns when it has ended.
    public func disconnect() async { await core.disconnect() }

    /// Waits until the link ends for any reason; returns at once without a link.
    ///
    /// It does not maintain the connection; ``maintainConnection(_:)`` does.
    ///
    /// - Returns: The reason, ``BluetoothError/Reason/cancelled`` after ``disconnect()``.
    /// - Throws: `CancellationError`.
    public func waitUntilDisconnected() async throws -> BluetoothError {
        let link = core.withState { $0.link?.number }
        let reason = if let link { try await core.end(of: link) } else { BluetoothError.Reason.disconnected(nil) }
        return BluetoothError(context(.connect).ofEndedLink, reason)
    }

    /// The link's signal strength in dBm.
    public func readRSSI() async throws -> Int {
        try await run(.readRSSI) { [core] in
            let link = try await core.connectedLink()
            return try await core.perform(PeripheralCall(.rssi) { $0.readRSSI() }, on: link, for: \.rssi)
        }
    }

    /// Returns the most bytes that one write takes on this link: 512 with response, one packet's contents without.
    public func maximumWriteLength(for type: CBCharacteristicWriteType) async throws -> Int {
        try await run(.connect) { [core] in
            _ = try await core.connectedLink()
            return core.object.maximumWriteValueLength(for: type)
        }
    }

    func context(
        _ operation: BluetoothError.Operation, _ path: (any CustomStringConvertible)? = nil
    ) -> BluetoothError.Context {
        BluetoothError.Context(operation, peer: core.identifier, peerName: name, path: path?.description)
    }

    /// Runs an operation for as long as the central's settings allow, and completes its errors.
    func run<Result: Sendable>(
        _ operation: BluetoothError.Operation, _ path: (any CustomStringConvertible & Sendable)? = nil,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await BluetoothError.run(
            context(operation, path), within: core.handle.core.settings.operationTimeout, clock: core.handle.clock, body
        )
    }

    /// The device's name and identifier, for texts that people read.
    var label: String { BluetoothError.Context.label(identifier, name) }
}

extension Peripheral: Hashable, CustomStringConvertible {
    /// Whether both are the same object.
    public static func == (left: Peripheral, right: Peripheral) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The name, or the identifier.
    public var description: String { name ?? identifier.uuidString }
}

/// The key of a value that an app attaches to a peripheral.
///
/// ```
/// enum Nickname: PeripheralContextKey { static let defaultValue = "" }
/// peripheral[Nickname.self] = "Left shoe"
/// ```
public protocol PeripheralContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value before the first assignment.
    static var defaultValue: Value { get }
}

extension Peripheral {
    /// A value that the app attaches to this peripheral, for the lifetime of the object.
    public subscript<Key: PeripheralContextKey>(key: Key.Type) -> Key.Value {
        get { core.withState { $0.context[ObjectIdentifier(key)] as? Key.Value } ?? Key.defaultValue }
        set {
            // The old one is released outside the lock.
            let old = core.withState { $0.context.updateValue(newValue, forKey: ObjectIdentifier(key)) }
            withExtendedLifetime(old) {}
        }
    }
}

/// A characteristic of a device, and its properties.
public struct CharacteristicInfo: Hashable, Sendable {
    /// The path of the characteristic.
    public let id: CharacteristicID
    /// The operations that the device announces for it.
    public let properties: CBCharacteristicProperties
}

/// The attributes of the device.
extension Peripheral {
    /// Returns the device's services, in its order.
    public func services() async throws -> [ServiceID] {
        try await run(.discover) { [core] in
            AttributePathComponent.numbered(try await core.services().attribute.map(\.uuid)).map {
                ServiceID($0.uuid, instance: $0.instance)
            }
        }
    }

    /// Returns the services that a service includes.
    ///
    /// After this call a secondary service can be named on this link.
    public func includedServices(of service: ServiceID) async throws -> [ServiceID] {
        try await run(.discover, service) { [core] in
            let included = try await core.includedServices(of: service).attribute
            let known = core.knownServices
            return included.map { one in
                let before = known.prefix { $0 !== one }.filter { $0.uuid == one.uuid }.count
                return ServiceID(one.uuid, instance: before + 1)
            }
        }
    }

    /// Whether a service is primary; a secondary service is only included in others.
    public func isPrimary(_ service: ServiceID) async throws -> Bool {
        try await run(.discover, service) { [core] in try await core.service(service).attribute.isPrimary }
    }

    /// Returns a service's characteristics, in the device's order.
    public func characteristics(of service: ServiceID) async throws -> [CharacteristicInfo] {
        try await run(.discover, service) { [core] in
            let all = try await core.characteristics(of: service).attribute
            return zip(AttributePathComponent.numbered(all.map(\.uuid)), all).map { component, characteristic in
                CharacteristicInfo(
                    id: CharacteristicID(component.uuid, instance: component.instance, in: service),
                    properties: characteristic.properties)
            }
        }
    }

    /// Returns a characteristic's descriptors, in the device's order.
    public func descriptors(of characteristic: CharacteristicID) async throws -> [DescriptorID] {
        try await run(.discover, characteristic) { [core] in
            AttributePathComponent.numbered(try await core.descriptors(of: characteristic).attribute.map(\.uuid)).map {
                DescriptorID($0.uuid, instance: $0.instance, of: characteristic)
            }
        }
    }
}

/// Values of characteristics and descriptors.
extension Peripheral {
    /// Reads a value, however long.
    public func read(_ characteristic: CharacteristicID) async throws -> Data {
        try await run(.read, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            let call = PeripheralCall(.read, found.attribute) { $0.readValue(for: $1) }
            return try await self.core.perform(call, on: found.link, for: \.value)
        }
    }

    /// Writes a value, and waits for the device's response.
    ///
    /// - Parameters:
    ///   - value: At most 512 bytes; a longer value throws ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: The characteristic to write.
    public func write(_ value: Data, to characteristic: CharacteristicID) async throws {
        try await run(.write, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            try self.check(value, .withResponse)
            let call = PeripheralCall(.write, found.attribute) { $0.writeValue(value, for: $1, type: .withResponse) }
            _ = try await self.core.perform(call, on: found.link)
        }
    }

    /// Writes a value without response; returns when the system has accepted it, not when it has arrived.
    ///
    /// - Parameters:
    ///   - value: At most one packet; a longer value throws
    ///     ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: The characteristic to write.
    public func writeWithoutResponse(_ value: Data, to characteristic: CharacteristicID) async throws {
        try await run(.writeWithoutResponse, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            guard found.attribute.properties.contains(.writeWithoutResponse) else {
                throw OperationFailure(.notSupported(.writeWithoutResponse))
            }
            try self.check(value, .withoutResponse)
            try await self.core.writeWithoutResponse(value, to: found.attribute, on: found.link)
        }
    }

    private func check(_ value: Data, _ type: CBCharacteristicWriteType) throws {
        let maximum = core.object.maximumWriteValueLength(for: type)
        guard value.count <= maximum else {
            throw OperationFailure(.valueTooLong(length: value.count, maximum: maximum))
        }
    }

    /// Reads a descriptor's value.
    public func read(descriptor: DescriptorID) async throws -> DescriptorValue {
        try await run(.read, descriptor) {
            let found = try await self.core.descriptor(descriptor)
            let call = PeripheralCall(.read, found.attribute) { $0.readValue(for: $1) }
            return try await self.core.perform(call, on: found.link, for: \.descriptor)
        }
    }

    /// Writes a descriptor's value; a value of 2902 is written by subscribing instead.
    public func write(_ value: Data, toDescriptor descriptor: DescriptorID) async throws {
        try await run(.write, descriptor) {
            guard descriptor.uuid != CBUUID(string: "2902") else {
                throw OperationFailure(.refused(CBATTError(system: .writeNotPermitted)))
            }
            try self.check(value, .withResponse)
            let found = try await self.core.descriptor(descriptor)
            let call = PeripheralCall(.write, found.attribute) { $0.writeValue(value, for: $1) }
            _ = try await self.core.perform(call, on: found.link)
        }
    }
}

/// L2CAP channels.
extension Peripheral {
    /// Opens a channel.
    ///
    /// - Parameter psm: The channel's number, 1...255; the device assigns 128...255.
    public func openChannel(_ psm: CBL2CAPPSM) async throws -> ByteChannel {
        try await run(.channel, "PSM \(psm)") { [self] in
            let link = try await core.connectedLink()
            let call = PeripheralCall(.channel) { $0.openL2CAPChannel(psm) }
            let channel = try await core.perform(call, on: link, for: \.channel)
            // The link ends with the last reference to the peripheral; the channel has one.
            return ByteChannel(channel, peerName: name) { try await self.core.endOfLink(link, isLost: $0) }
        }
    }
}
