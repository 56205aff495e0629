import BluetoothBackend
import Foundation

/// The app's objects that a peripheral manager has published and keeps alive.
///
/// A value under the core's lock. Objects that it releases must end outside that lock: an app's subclass may have a
/// `deinit`.
struct LocalObjects {
    /// A service with its characteristics, as they were published.
    struct Published {
        let service: CBMutableService
        let characteristics: [(id: AttributeID, object: CBMutableCharacteristic)]

        /// The marks of all its objects.
        var publications: [Publication] {
            [service.publication] + characteristics.map(\.object.publication)
        }
    }

    private var published: [AttributeID: Published] = [:]
    private var characteristics: [AttributeID: CBMutableCharacteristic] = [:]
    /// The services of calls of `add` that have no answer yet.
    var additions: [OperationID: CBMutableService] = [:]

    var all: [Published] { Array(published.values) }

    func service(_ id: AttributeID) -> Published? { published[id] }

    func characteristic(_ id: AttributeID) -> CBMutableCharacteristic? { characteristics[id] }

    /// Retains the objects of a published service, and freezes them.
    mutating func keep(
        _ service: CBMutableService, _ objects: [CBMutableCharacteristic], as definition: ServiceDefinition,
        by core: PeripheralCore
    ) {
        service.publication.hold(by: core)
        var pairs: [(id: AttributeID, object: CBMutableCharacteristic)] = []
        for (part, object) in zip(definition.characteristics, objects) {
            object.publication.hold(by: core, isStatic: part.staticValue != nil)
            characteristics[part.id] = object
            pairs.append((part.id, object))
        }
        published[definition.id] = Published(service: service, characteristics: pairs)
    }

    mutating func remove(_ id: AttributeID) -> Published? {
        guard let gone = published.removeValue(forKey: id) else { return nil }
        for pair in gone.characteristics { characteristics[pair.id] = nil }
        return gone
    }
}

extension LocalService {
    /// Reads the app's objects, on the thread of the call.
    init(_ service: CBMutableService, for core: PeripheralCore) {
        let included = service.includedServices ?? []
        let characteristics = service.characteristics ?? []
        let own = characteristics.compactMap { $0 as? CBMutableCharacteristic }
        let descriptors = characteristics.flatMap { $0.descriptors ?? [] }
        self.init(
            key: ObjectKey(service), uuid: service.uuid.bluetoothUUID, isPrimary: service.isPrimary,
            included: included.map { ObjectKey($0) }, characteristics: own.map { Characteristic($0) },
            hasForeignParts: own.count < characteristics.count
                || !included.allSatisfy { $0 is CBMutableService }
                || !descriptors.allSatisfy { $0 is CBMutableDescriptor }
                || service.publication.isHeld(byOtherThan: core)
                || own.contains { $0.publication.isHeld(byOtherThan: core) })
    }
}

extension LocalService.Characteristic {
    fileprivate init(_ characteristic: CBMutableCharacteristic) {
        self.init(
            key: ObjectKey(characteristic), uuid: characteristic.uuid.bluetoothUUID,
            properties: CharacteristicProperties(
                rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue)),
            permissions: AttributePermissions(
                rawValue: UInt8(truncatingIfNeeded: characteristic.permissions.rawValue)),
            value: characteristic.value,
            descriptors: (characteristic.descriptors ?? []).map { LocalService.Descriptor($0) })
    }
}

extension LocalService.Descriptor {
    fileprivate init(_ descriptor: CBDescriptor) {
        let value: LocalService.DescriptorValue =
            switch descriptor.value {
            case let text as String: .text(text)
            case let bytes as Data: .bytes(bytes)
            default: .other
            }
        self.init(uuid: descriptor.uuid.bluetoothUUID, value: value)
    }
}
