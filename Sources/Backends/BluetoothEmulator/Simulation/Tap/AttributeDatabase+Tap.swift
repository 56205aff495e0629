import BluetoothBackend

// The attributes as a central discovers them over the air.
extension AttributeDatabase {
    /// All services with their attributes, in handle order.
    var tappedServices: [TappedService] {
        services.compactMap { id in
            tappedService(id, included: tappedIncludes(of: id), characteristics: tappedCharacteristics(of: id))
        }
    }

    /// The services in the response to a discovery of primary services.
    var tappedPrimaryServices: [TappedService] {
        services.compactMap { tappedService($0) }.filter(\.isPrimary)
    }

    private func tappedService(
        _ id: AttributeID, included: [TappedService.Include] = [], characteristics: [TappedCharacteristic] = []
    ) -> TappedService? {
        guard let service = self[id], case .service(let isPrimary) = service.role else { return nil }
        return TappedService(
            handles: service.handles, uuid: service.uuid, isPrimary: isPrimary, included: included,
            characteristics: characteristics)
    }

    /// The include declarations of a service, which follow its own declaration.
    func tappedIncludes(of id: AttributeID) -> [TappedService.Include] {
        guard let service = self[id] else { return [] }
        return service.included.enumerated().compactMap { position, included in
            self[included].map {
                TappedService.Include(handle: service.handle + 1 + UInt16(position), handles: $0.handles, uuid: $0.uuid)
            }
        }
    }

    /// The characteristics of a service, optionally with their descriptors.
    func tappedCharacteristics(of service: AttributeID, withDescriptors: Bool = true) -> [TappedCharacteristic] {
        (self[service]?.children ?? []).compactMap { id in
            guard let record = record(ofCharacteristic: id), let handle = self[id]?.handle else { return nil }
            return TappedCharacteristic(
                declarationHandle: handle - 1, valueHandle: handle, properties: record.properties, uuid: record.uuid,
                descriptors: withDescriptors ? tappedDescriptors(of: id) : [])
        }
    }

    func tappedDescriptors(of characteristic: AttributeID) -> [TappedDescriptor] {
        (self[characteristic]?.children ?? []).compactMap { id in
            self[id].map { TappedDescriptor(handle: $0.handle, uuid: $0.uuid) }
        }
    }

    /// The services, the values of characteristics and the descriptors, by their handles.
    var byHandle: [UInt16: AttributeID] {
        // A host outside of the emulator may repeat handles.
        Dictionary(all.map { ($0.attribute.handle, $0.id) }) { first, _ in first }
    }

    // MARK: Requests

    /// Returns the request of a procedure; nil if an attribute was removed or nothing is to be requested.
    func tappedRequest(_ kind: LinkOperation.Kind) -> ATTRequest? {
        switch kind {
        case .deviceName: return handle(of: "2A00", in: "1800").map { .read(handle: $0) }
        case .request(.discoverServices): return .discoverServices
        case .request(.discoverIncludedServices(let id, _)):
            return self[id].map { .discoverIncludedServices(in: $0.handles) }
        case .request(.discoverCharacteristics(let id, _)):
            return self[id].map { .discoverCharacteristics(in: $0.handles) }
        case .request(.discoverDescriptors(let id)):
            let handles = tappedDescriptors(of: id).map(\.handle)
            guard let first = handles.first, let last = handles.last else { return nil }
            return .discoverDescriptors(in: first...last)
        case .request(.read(let id)): return self[id].map { .read(handle: $0.handle) }
        case .request(.write(let id, let value, let offset)):
            return self[id].map { .write(handle: $0.handle, value, offset: offset) }
        case .request(.setNotifying(let id, let isOn)):
            guard let handle = clientConfiguration(of: id), let found = self[id] else { return nil }
            let kind = LinkServer.Subscription(preferredBy: found.access.properties)
            return .write(handle: handle, Data([isOn ? kind.rawValue : 0, 0]))
        case .request(.readRSSI), .request(.openChannel), .writeCommand, .exchange: return nil
        }
    }

    private func clientConfiguration(of characteristic: AttributeID) -> UInt16? {
        let id = self[characteristic]?.children.first { self[$0]?.role == .clientConfiguration }
        return id.flatMap { self[$0]?.handle }
    }

    /// Returns the response to a procedure; nil if it has no response.
    func tappedResponse(to kind: LinkOperation.Kind, _ response: LinkResponse) -> ATTResponse? {
        switch (kind, response) {
        case (_, .failure(let error)): return error.attCode.map { .error(ATTCode(rawValue: $0)) }
        case (.request(.discoverServices), _): return .services(tappedPrimaryServices)
        case (.request(.discoverIncludedServices(let id, _)), _): return .includedServices(tappedIncludes(of: id))
        case (.request(.discoverCharacteristics(let id, _)), _):
            return .characteristics(tappedCharacteristics(of: id, withDescriptors: false))
        case (.request(.discoverDescriptors(let id)), _): return .descriptors(tappedDescriptors(of: id))
        case (_, .value(let value)): return .value(value)
        case (_, .written), (_, .notifying): return .written
        default: return nil
        }
    }

    /// The handle of Service Changed.
    var serviceChangedHandle: UInt16? { handle(of: "2A05", in: "1801") }

    private func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> UInt16? {
        self.characteristic(CharacteristicPath(characteristic, service: service)).flatMap { self[$0]?.handle }
    }
}

extension Attribute {
    fileprivate var handles: ClosedRange<UInt16> { handle...max(handle, endHandle) }
}
