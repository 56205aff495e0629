import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The services of a server outside of the emulator, as far as they are discovered.
///
/// Responses with handles outside of the request, or out of order, bring nothing new and end their step.
///
/// Source: Core Specification, Vol 3, Part G, 4.4 to 4.7.
struct ServerDiscovery: Sendable {
    /// A server has 256 services at most, 4,096 attributes at most; what follows is not discovered.
    static let (maximumServices, maximumAttributes) = (256, 4_096)

    private struct Service: Sendable {
        let handles: ClosedRange<UInt16>
        let uuid: BluetoothUUID
        let isPrimary: Bool
        var included: [TappedService.Include] = []
        var characteristics: [Characteristic] = []
    }

    private struct Characteristic: Sendable {
        let declaration: UInt16
        let value: UInt16
        let properties: UInt8
        let uuid: BluetoothUUID
        var descriptors: [TappedDescriptor] = []
    }

    private enum Target: Sendable {
        case services(isPrimary: Bool)
        case includes(Int)
        case characteristics(Int)
        case descriptors(Int, Int)
    }

    private var found: [Service] = []
    private var attributeCount = 0
    /// The first handle of the next request; 0 after the handle FFFF.
    private var next: UInt16 = 1
    private var isStepNew = true
    /// The handles of the step.
    private var range: ClosedRange<UInt16> = 1...UInt16.max
    private var target = Target.services(isPrimary: true)

    var serviceCount: Int { found.count }

    func characteristicCount(of service: Int) -> Int { found[service].characteristics.count }

    /// The services in the order of their handles.
    var services: [TappedService] {
        found.map { service in
            TappedService(
                handles: service.handles, uuid: service.uuid, isPrimary: service.isPrimary,
                included: service.included,
                characteristics: service.characteristics.map {
                    TappedCharacteristic(
                        declarationHandle: $0.declaration, valueHandle: $0.value,
                        properties: CharacteristicProperties(rawValue: UInt16($0.properties)), uuid: $0.uuid,
                        descriptors: $0.descriptors)
                })
        }
    }

    // MARK: Requests

    /// Begins another step, whose first request has the first handle of its range.
    mutating func beginStep() { isStepNew = true }

    /// Returns the handles of the next request; nil if the step is over.
    private mutating func remaining(after first: UInt16, upTo last: UInt16, _ target: Target) -> ClosedRange<UInt16>? {
        guard first < last else { return nil }
        (self.target, range) = (target, first + 1...last)
        if isStepNew { (next, isStepNew) = (first + 1, false) }
        guard range.contains(next), attributeCount < Self.maximumAttributes else { return nil }
        return next...last
    }

    mutating func servicesRequest(isPrimary: Bool) -> ATTPDU? {
        guard found.count < Self.maximumServices else { return nil }
        return remaining(after: 0, upTo: .max, .services(isPrimary: isPrimary)).map {
            .readByGroupTypeRequest($0, isPrimary ? "2800" : "2801")
        }
    }

    mutating func includesRequest(_ service: Int) -> ATTPDU? {
        let handles = found[service].handles
        return remaining(after: handles.lowerBound, upTo: handles.upperBound, .includes(service)).map {
            .readByTypeRequest($0, "2802")
        }
    }

    /// The request for the characteristics of a service, which follow its include declarations.
    mutating func characteristicsRequest(_ service: Int) -> ATTPDU? {
        let handles = found[service].handles
        let first = found[service].included.last?.handle ?? handles.lowerBound
        return remaining(after: first, upTo: handles.upperBound, .characteristics(service)).map {
            .readByTypeRequest($0, "2803")
        }
    }

    /// The request for the descriptors of a characteristic; nil if there are no handles for them.
    mutating func descriptorsRequest(_ service: Int, _ characteristic: Int) -> ATTPDU? {
        let (handles, characteristics) = (found[service].handles, found[service].characteristics)
        guard characteristics.indices.contains(characteristic) else { return nil }
        let value = characteristics[characteristic].value
        let end =
            characteristic + 1 < characteristics.count
            ? characteristics[characteristic + 1].declaration - 1 : handles.upperBound
        return remaining(after: value, upTo: end, .descriptors(service, characteristic)).map {
            .findInformationRequest($0)
        }
    }

    // MARK: Responses

    /// Adds the attributes of a response.
    ///
    /// - Returns: Whether the response answers the request and continues it.
    mutating func add(_ pdu: ATTPDU) -> Bool {
        let before = next
        switch (target, pdu) {
        case (.services(let isPrimary), .readByGroupTypeResponse(let groups)):
            for group in groups { add(group, isPrimary: isPrimary) }
        case (.includes(let service), .readByTypeResponse(let values)):
            for value in values { addInclude(value, to: service) }
        case (.characteristics(let service), .readByTypeResponse(let values)):
            for value in values { addCharacteristic(value, to: service) }
        case (.descriptors(let service, let characteristic), .findInformationResponse(let descriptors)):
            for descriptor in descriptors { add(descriptor, to: service, characteristic) }
        default: return false
        }
        return next > before
    }

    /// Takes a handle if it follows the earlier ones of the step.
    private mutating func accept(_ handle: UInt16, upTo end: UInt16? = nil) -> Bool {
        let last = end ?? handle
        guard next > 0, handle >= next, handle <= last, range.contains(last),
            attributeCount < Self.maximumAttributes
        else { return false }
        next = last == .max ? 0 : last + 1
        attributeCount += 1
        return true
    }

    private mutating func add(_ group: ATTPDU.Group, isPrimary: Bool) {
        guard let uuid = BluetoothUUID(attBytes: group.value), found.count < Self.maximumServices,
            accept(group.handles.lowerBound, upTo: group.handles.upperBound),
            !found.contains(where: { $0.handles.overlaps(group.handles) })
        else { return }
        found.append(Service(handles: group.handles, uuid: uuid, isPrimary: isPrimary))
        found.sort { $0.handles.lowerBound < $1.handles.lowerBound }
    }

    private mutating func addInclude(_ entry: ATTPDU.HandleAndValue, to service: Int) {
        var cursor = ByteCursor(entry.value)
        guard let first = cursor.littleEndian(UInt16.self), let last = cursor.littleEndian(UInt16.self), first <= last,
            accept(entry.handle)
        else { return }
        // The UUID is left out if it has 128 bits.
        let uuid =
            cursor.isAtEnd
            ? found.first { $0.handles.lowerBound == first }?.uuid : BluetoothUUID(attBytes: Array(cursor.rest))
        guard let uuid else { return }
        found[service].included.append(TappedService.Include(handle: entry.handle, handles: first...last, uuid: uuid))
    }

    private mutating func addCharacteristic(_ entry: ATTPDU.HandleAndValue, to service: Int) {
        var cursor = ByteCursor(entry.value)
        guard let properties = cursor.byte(), let value = cursor.littleEndian(UInt16.self),
            let uuid = BluetoothUUID(attBytes: Array(cursor.rest)), value > entry.handle,
            accept(entry.handle, upTo: value)
        else { return }
        found[service].characteristics.append(
            Characteristic(declaration: entry.handle, value: value, properties: properties, uuid: uuid))
    }

    private mutating func add(_ entry: ATTPDU.HandleAndUUID, to service: Int, _ characteristic: Int) {
        guard accept(entry.handle) else { return }
        found[service].characteristics[characteristic].descriptors.append(
            TappedDescriptor(handle: entry.handle, uuid: entry.uuid))
    }
}
