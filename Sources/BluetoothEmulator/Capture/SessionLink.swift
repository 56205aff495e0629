import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// A link from the app's point of view: its attributes and the pending requests.
struct SessionLink: Sendable {
    struct Request: Sendable {
        var operation: OperationID
        var request: LinkRequest
        var sentAt: Duration
    }

    private struct Attribute: Sendable {
        var handle: UInt16
        /// The last handle that may belong to a service.
        var lastHandle: UInt16
        var properties: CharacteristicProperties = []
        /// The handle of a characteristic's Client Characteristic Configuration, after its discovery.
        var configuration: UInt16?
    }

    /// The UUID of the Client Characteristic Configuration, which is assumed to follow the value until it is
    /// discovered.
    private static let uuidOfConfiguration: BluetoothUUID = "2902"

    let number: UInt32
    /// The requests, of which the first was sent; the others wait for it.
    var requests: [Request] = []
    /// An MTU that was agreed while requests were pending; it is reported with the next response, before any further
    /// request.
    private var newMTU: Int?
    private var attributes: [AttributeID: Attribute] = [:]
    /// The next handle for an attribute whose handle the backend does not know.
    private var nextHandle: UInt16 = 0x8000

    init(number: UInt32) { self.number = number }

    func handle(_ attribute: AttributeID) -> UInt16? { attributes[attribute]?.handle }

    /// Whether a characteristic can only be indicated.
    func indicates(_ attribute: AttributeID) -> Bool {
        attributes[attribute].map { !$0.properties.contains(.notify) && $0.properties.contains(.indicate) } ?? false
    }

    // MARK: Requests

    /// Starts a request.
    mutating func start(_ request: Request, at time: Duration) -> [TapEvent.Kind] {
        guard let att = attRequest(request.request) else { return [] }
        var kinds: [TapEvent.Kind] = []
        // Without a discovery, a reader of the capture could not identify the written attribute.
        if case .setNotifying(let attribute, _) = request.request, attributes[attribute]?.configuration == nil,
            case .write(let handle, _, _) = att
        {
            attributes[attribute]?.configuration = handle
            let found = ATTResponse.descriptors([TappedDescriptor(handle: handle, uuid: Self.uuidOfConfiguration)])
            kinds += exchange(.discoverDescriptors(in: handle...handle), found, at: time)
        }
        return kinds + [.att(link: number, .request(att, sentAt: request.sentAt))]
    }

    /// Removes a request that was answered.
    mutating func end(_ operation: OperationID) -> Request? {
        requests.firstIndex { $0.operation == operation }.map { requests.remove(at: $0) }
    }

    /// Completes an answered request, and sends the next one.
    mutating func complete(
        _ operation: OperationID, _ response: LinkResponse, at time: Duration
    ) -> [TapEvent.Kind] {
        let isFirst = requests.first?.operation == operation
        guard let request = end(operation) else { return [] }
        var kinds: [TapEvent.Kind] = []
        if !isFirst { kinds += start(request, at: time) }
        kinds += answer(request.request, response)
        if let mtu = newMTU {
            newMTU = nil
            kinds.append(.mtuChanged(link: number, mtu: mtu))
        }
        if var next = requests.first {
            if isFirst { next.sentAt = max(next.sentAt, time) }
            kinds += start(next, at: time)
        }
        return kinds
    }

    /// Changes the MTU that both sides agreed.
    mutating func change(mtu: Int) -> [TapEvent.Kind] {
        guard requests.isEmpty else {
            newMTU = mtu
            return []
        }
        return [.mtuChanged(link: number, mtu: mtu)]
    }

    private func exchange(_ request: ATTRequest, _ response: ATTResponse, at time: Duration) -> [TapEvent.Kind] {
        [
            .att(link: number, .request(request, sentAt: time)),
            .att(link: number, .response(response)),
        ]
    }

    private func attRequest(_ request: LinkRequest) -> ATTRequest? {
        switch request {
        case .readRSSI, .openChannel: return nil
        case .discoverServices: return .discoverServices
        case .discoverIncludedServices(let service, _):
            return attributes[service].map { .discoverIncludedServices(in: $0.handle...$0.lastHandle) }
        case .discoverCharacteristics(let service, _):
            return attributes[service].map { .discoverCharacteristics(in: $0.handle...$0.lastHandle) }
        case .discoverDescriptors(let characteristic):
            return attributes[characteristic].map { found in
                let first = min(found.handle, .max - 1) + 1
                return .discoverDescriptors(in: first...max(first, found.lastHandle))
            }
        case .read(let attribute): return attributes[attribute].map { .read(handle: $0.handle) }
        case .write(let attribute, let value, let offset):
            return attributes[attribute].map { .write(handle: $0.handle, value, offset: offset) }
        case .setNotifying(let attribute, let isOn):
            return attributes[attribute].map { found in
                let bit: UInt8 = found.properties.contains(.notify) ? 1 : 2
                return .write(
                    handle: found.configuration ?? min(found.handle, .max - 1) + 1, Data([isOn ? bit : 0, 0]))
            }
        }
    }

    private mutating func answer(_ request: LinkRequest, _ response: LinkResponse) -> [TapEvent.Kind] {
        let answer: ATTResponse
        switch (request, response) {
        case (.discoverIncludedServices(let parent, _), .services(let found)):
            answer = .includedServices(include(found, in: parent))
        case (_, .services(let found)): answer = .services(add(found))
        case (.discoverCharacteristics(let parent, _), .characteristics(let found)):
            answer = .characteristics(add(found, of: parent))
        case (.discoverDescriptors(let parent), .descriptors(let found)): answer = .descriptors(add(found, of: parent))
        case (_, .value(let value)): answer = .value(value)
        case (_, .written), (_, .notifying): answer = .written
        case (_, .failure(let error)):
            guard let code = error.attCode, code != 0 else { return [.note("\(error)")] }
            answer = .error(ATTCode(rawValue: code))
        default: return []
        }
        return [.att(link: number, .response(answer))]
    }

    // MARK: Attributes

    private mutating func handle(_ known: UInt16?, _ id: AttributeID) -> UInt16 {
        if let handle = known ?? attributes[id]?.handle { return max(1, handle) }
        defer { nextHandle = max(0x8000, nextHandle &+ 2) }
        return nextHandle
    }

    private mutating func add(_ found: [ServiceRecord]) -> [TappedService] {
        let handles = found.map { handle($0.handle, $0.id) }
        return zip(found, handles).map { record, first in
            // The extent of the service is unknown, except that it ends before the next one.
            let next = handles.filter { $0 > first }.min().map { $0 - 1 } ?? .max
            attributes[record.id] = Attribute(handle: first, lastHandle: next)
            return TappedService(
                handles: first...next, uuid: record.uuid, isPrimary: record.isPrimary, included: [], characteristics: []
            )
        }
    }

    private mutating func include(_ found: [ServiceRecord], in parent: AttributeID) -> [TappedService.Include] {
        let first = attributes[parent]?.handle ?? 1
        return add(found).enumerated().map { index, service in
            TappedService.Include(
                handle: UInt16(clamping: Int(first) + index + 1), handles: service.handles, uuid: service.uuid)
        }
    }

    private mutating func add(_ found: [CharacteristicRecord], of service: AttributeID) -> [TappedCharacteristic] {
        let handles = found.map { handle($0.handle, $0.id) }
        let end = attributes[service]?.lastHandle ?? .max
        return zip(found, handles).map { record, value in
            // The next characteristic's declaration precedes its value.
            let next = handles.filter { $0 > value }.min().map { max(value, $0 - 2) } ?? max(value, end)
            attributes[record.id] = Attribute(handle: value, lastHandle: next, properties: record.properties)
            return TappedCharacteristic(
                declarationHandle: max(1, value - 1), valueHandle: value, properties: record.properties,
                uuid: record.uuid, descriptors: [])
        }
    }

    private mutating func add(_ found: [DescriptorRecord], of characteristic: AttributeID) -> [TappedDescriptor] {
        found.map { record in
            let handle = handle(record.handle, record.id)
            attributes[record.id] = Attribute(handle: handle, lastHandle: handle)
            if record.uuid == Self.uuidOfConfiguration { attributes[characteristic]?.configuration = handle }
            return TappedDescriptor(handle: handle, uuid: record.uuid)
        }
    }

    /// Discovers the attributes that a restored manager knows.
    mutating func know(_ services: [RestoredCentralState.Service], at time: Duration) -> [TapEvent.Kind] {
        var kinds = exchange(.discoverServices, .services(add(services.map(\.record))), at: time)
        for service in services {
            guard let known = attributes[service.record.id] else { continue }
            let found = add(service.characteristics, of: service.record.id)
            kinds += exchange(
                .discoverCharacteristics(in: known.handle...known.lastHandle), .characteristics(found), at: time)
        }
        return kinds
    }
}
