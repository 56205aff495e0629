import CoreBluetooth
import Foundation

/// The services of a peripheral manager, and CoreBluetooth's published objects for them.
struct PublishedServices {
    private struct Entry {
        let service: EmulatedCBMutableService
        let core: CBMutableService
        let characteristics: [(object: EmulatedCBMutableCharacteristic, core: CBMutableCharacteristic)]
        /// The position of the service on its host, from 0; nil until it is published.
        var number: Int?
    }

    private var entries: [Entry] = []
    /// The number of the host's next service; numbers are never reused.
    private(set) var nextNumber: Int

    init(nextNumber: Int) { self.nextNumber = nextNumber }

    /// The services in the order of their publication.
    var services: [EmulatedCBMutableService] { entries.map(\.service) }

    var cores: [CBMutableService] { entries.map(\.core) }

    func core(of service: EmulatedCBService) -> CBMutableService? { entries.first { $0.service === service }?.core }

    /// Returns the position of a service on its host, from 0.
    func number(of service: EmulatedCBMutableService) -> Int? { entries.first { $0.service === service }?.number }

    func service(of core: CBService) -> EmulatedCBMutableService? { entries.first { $0.core === core }?.service }

    func characteristic(of core: CBCharacteristic) -> EmulatedCBMutableCharacteristic? {
        entries.lazy.flatMap(\.characteristics).first { $0.core === core }?.object
    }

    func core(of characteristic: EmulatedCBMutableCharacteristic) -> CBMutableCharacteristic? {
        entries.lazy.flatMap(\.characteristics).first { $0.object === characteristic }?.core
    }

    /// Adds a service with its published object; their characteristics correspond in order.
    ///
    /// - Parameter isConfirmed: Whether it is published already.
    mutating func append(
        _ service: EmulatedCBMutableService, _ core: CBMutableService, of manager: EmulatedCBPeripheralManager,
        isConfirmed: Bool = false
    ) {
        let cores = (core.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
        let pairs = Array(zip(service.mutableCharacteristics, cores))
        for (object, core) in pairs {
            object.setPublication(EmulatedCBMutableCharacteristic.Publication(core: core, manager: manager))
        }
        entries.append(
            Entry(
                service: service, core: core, characteristics: pairs.map { ($0.0, $0.1) },
                number: isConfirmed ? takeNumber() : nil))
    }

    private mutating func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Handles the answer to an addition: a service that was not published before becomes published or is removed.
    mutating func added(_ core: CBService, isPublished: Bool) {
        guard let index = entries.firstIndex(where: { $0.core === core }) else { return }
        if isPublished {
            entries[index].number = takeNumber()
        } else if entries[index].number == nil {
            remove(core)
        }
    }

    mutating func remove(_ core: CBService) {
        for entry in entries where entry.core === core { Self.withdraw(entry) }
        entries.removeAll { $0.core === core }
    }

    mutating func removeAll() {
        entries.forEach(Self.withdraw)
        entries = []
    }

    private static func withdraw(_ entry: Entry) {
        for (object, core) in entry.characteristics where object.published === core { object.setPublication(nil) }
    }
}

extension EmulatedCBMutableService {
    /// Returns the object to publish for this service: characteristics without values, which the module stores, and
    /// those descriptors that CoreBluetooth can publish.
    ///
    /// - Parameters:
    ///   - included: The published objects of the included services.
    ///   - isProtected: Whether requirements of encryption apply.
    func makeCore(included: [CBMutableService], isProtected: Bool) -> CBMutableService {
        let core = CBMutableService(type: uuid, primary: isPrimary)
        core.includedServices = included.isEmpty ? nil : included
        core.characteristics = mutableCharacteristics.map { $0.makeCore(isProtected: isProtected) }
        return core
    }
}

extension EmulatedCBMutableCharacteristic {
    fileprivate func makeCore(isProtected: Bool) -> CBMutableCharacteristic {
        let core = CBMutableCharacteristic(
            type: uuid, properties: isProtected ? properties : properties.withoutEncryption, value: nil,
            permissions: isProtected ? permissions : permissions.withoutEncryption)
        let descriptors = mutableDescriptors.compactMap(\.publishable)
        core.descriptors = descriptors.isEmpty ? nil : descriptors
        return core
    }
}

extension EmulatedCBMutableDescriptor {
    /// The descriptor for the air; nil for one that CoreBluetooth refuses, which only clients of this module see.
    fileprivate var publishable: CBMutableDescriptor? {
        switch (uuid.uuidString, value) {
        case (CBUUIDCharacteristicUserDescriptionString, let text as String):
            CBMutableDescriptor(type: uuid, value: text)
        case (CBUUIDCharacteristicFormatString, let bytes as Data): CBMutableDescriptor(type: uuid, value: bytes)
        default: nil
        }
    }
}

extension CBAttributePermissions {
    /// The permissions without encryption.
    var withoutEncryption: CBAttributePermissions {
        var result = intersection([.readable, .writeable])
        if contains(.readEncryptionRequired) { result.insert(.readable) }
        if contains(.writeEncryptionRequired) { result.insert(.writeable) }
        return result
    }
}

extension CBCharacteristicProperties {
    /// The properties without encryption.
    fileprivate var withoutEncryption: CBCharacteristicProperties {
        var result = subtracting([.notifyEncryptionRequired, .indicateEncryptionRequired])
        if contains(.notifyEncryptionRequired) { result.insert(.notify) }
        if contains(.indicateEncryptionRequired) { result.insert(.indicate) }
        return result
    }
}
