import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI

/// The services of a server outside of the emulator, as far as they are discovered.
///
/// Responses with handles outside of the request, or out of order, bring nothing new and end their step.
///
/// Source: Core Specification, Vol 3, Part G, 4.4 to 4.7.
struct ServerDiscovery: Sendable {
    /// A server has 256 services at most, 4,096 attributes at most; what follows is not discovered.
    static let (maximumServices, maximumAttributes) = (256, 4_096)

    /// A step, with the indices of its service and its characteristic.
    private enum Step: Sendable {
        case services(isPrimary: Bool)
        case includes(Int)
        case characteristics(Int)
        case descriptors(Int, Int)
    }

    /// The services in the order of their handles.
    private(set) var services: [TappedService] = []
    private var attributeCount = 0
    private var step = Step.services(isPrimary: true)
    private var isStepNew = true
    /// The handles of the step.
    private var range: ClosedRange<UInt16> = 1...UInt16.max
    /// The first handle of the next request; 0 after the handle FFFF.
    private var next: UInt16 = 1

    // MARK: Requests

    /// Returns the next request, after the end of steps without one; nil if the discovery is over.
    mutating func nextRequest() -> ATTPDU? {
        while true {
            if case .includes(let service) = step, service >= services.count { return nil }
            if let request = stepRequest() { return request }
            endStep()
        }
    }

    /// Begins the next step, whose first request has the first handle of its range.
    mutating func endStep() {
        isStepNew = true
        step =
            switch step {
            case .services(isPrimary: true): .services(isPrimary: false)
            case .services: .includes(0)
            case .includes(let service): .characteristics(service)
            case .characteristics(let service): .descriptors(service, 0)
            case .descriptors(let service, let characteristic):
                characteristic + 1 < services[service].characteristics.count
                    ? .descriptors(service, characteristic + 1) : .includes(service + 1)
            }
    }

    /// Returns the next request of the step; nil if the step is over.
    private mutating func stepRequest() -> ATTPDU? {
        switch step {
        case .services(let isPrimary):
            guard services.count < Self.maximumServices else { return nil }
            return remaining(after: 0, upTo: .max).map { .readByGroupTypeRequest($0, isPrimary ? "2800" : "2801") }
        case .includes(let service):
            let handles = services[service].handles
            return remaining(after: handles.lowerBound, upTo: handles.upperBound).map { .readByTypeRequest($0, "2802") }
        case .characteristics(let service):
            // They follow the include declarations.
            let handles = services[service].handles
            let first = services[service].included.last?.handle ?? handles.lowerBound
            return remaining(after: first, upTo: handles.upperBound).map { .readByTypeRequest($0, "2803") }
        case .descriptors(let service, let characteristic):
            let (handles, characteristics) = (services[service].handles, services[service].characteristics)
            guard characteristics.indices.contains(characteristic) else { return nil }
            let end =
                characteristic + 1 < characteristics.count
                ? characteristics[characteristic + 1].declarationHandle - 1 : handles.upperBound
            return remaining(after: characteristics[characteristic].valueHandle, upTo: end).map {
                .findInformationRequest($0)
            }
        }
    }

    /// Returns the handles of the next request; nil if none is left, or the limit is reached.
    private mutating func remaining(after first: UInt16, upTo last: UInt16) -> ClosedRange<UInt16>? {
        guard first < last else { return nil }
        range = first + 1...last
        if isStepNew { (next, isStepNew) = (first + 1, false) }
        guard range.contains(next), attributeCount < Self.maximumAttributes else { return nil }
        return next...last
    }

    // MARK: Responses

    /// Adds the attributes of a response.
    ///
    /// - Returns: Whether the response answers the request and continues it.
    mutating func add(_ pdu: ATTPDU) -> Bool {
        let before = next
        switch (step, pdu) {
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
        guard let uuid = BluetoothUUID(attBytes: group.value), services.count < Self.maximumServices,
            accept(group.handles.lowerBound, upTo: group.handles.upperBound),
            !services.contains(where: { $0.handles.overlaps(group.handles) })
        else { return }
        services.append(
            TappedService(handles: group.handles, uuid: uuid, isPrimary: isPrimary, included: [], characteristics: []))
        services.sort { $0.handles.lowerBound < $1.handles.lowerBound }
    }

    private mutating func addInclude(_ entry: ATTPDU.HandleAndValue, to service: Int) {
        var cursor = ByteCursor(entry.value)
        guard let first = cursor.littleEndian(UInt16.self), let last = cursor.littleEndian(UInt16.self), first <= last,
            accept(entry.handle)
        else { return }
        // The UUID is left out if it has 128 bits.
        let uuid =
            cursor.isAtEnd
            ? services.first { $0.handles.lowerBound == first }?.uuid : BluetoothUUID(attBytes: Array(cursor.rest))
        guard let uuid else { return }
        services[service].included.append(
            TappedService.Include(handle: entry.handle, handles: first...last, uuid: uuid))
    }

    private mutating func addCharacteristic(_ entry: ATTPDU.HandleAndValue, to service: Int) {
        guard let characteristic = TappedCharacteristic(entry), characteristic.valueHandle > entry.handle,
            accept(entry.handle, upTo: characteristic.valueHandle)
        else { return }
        services[service].characteristics.append(characteristic)
    }

    private mutating func add(_ entry: ATTPDU.HandleAndUUID, to service: Int, _ characteristic: Int) {
        guard accept(entry.handle) else { return }
        services[service].characteristics[characteristic].descriptors.append(
            TappedDescriptor(handle: entry.handle, uuid: entry.uuid))
    }
}
