#if os(Linux)
import BluetoothBackend

/// The discovery of a device's services, which the daemon performs after each connect.
struct ServiceDiscovery: Sendable {
    var outstanding: Set<OperationID> = []
    var services: [ServiceRecord] = []
    var includes: [AttributeID: [AttributeID]] = [:]
    var characteristics: [AttributeID: [CharacteristicRecord]] = [:]
    var descriptors: [AttributeID: [DescriptorRecord]] = [:]
}

extension DaemonLink {
    mutating func discoverServices(_ context: inout DaemonContext) {
        discovery = ServiceDiscovery()
        send(.discoverServices(nil), for: .services, &context)
    }

    /// Records the response to a request of the discovery.
    ///
    /// - Returns: The results, if no other response is missing.
    mutating func discovered(
        _ response: LinkResponse, to operation: OperationID, _ purpose: LinkPurpose, _ context: inout DaemonContext
    ) -> ServiceDiscovery? {
        // The response may belong to a discovery that has been restarted since.
        guard discovery?.outstanding.remove(operation) != nil else { return nil }
        record(response, purpose, &context)
        guard let results = discovery, results.outstanding.isEmpty else { return nil }
        discovery = nil
        return results
    }

    private mutating func record(_ response: LinkResponse, _ purpose: LinkPurpose, _ context: inout DaemonContext) {
        switch (purpose, response) {
        case (.services, .services(let records)):
            discovery?.services += records
            for record in records { explore(record, &context) }
        case (.includes(let service), .services(let records)):
            guard !records.isEmpty else { return }
            discovery?.includes[service] = records.map(\.id)
            let known = discovery?.services.map(\.id) ?? []
            for record in records where !known.contains(record.id) {
                discovery?.services.append(record)
                explore(record, &context)
            }
        case (.characteristics(let service), .characteristics(let records)):
            discovery?.characteristics[service] = records
            for record in records {
                send(.discoverDescriptors(of: record.id), for: .descriptors(of: record.id), &context)
            }
        case (.descriptors(let characteristic), .descriptors(let records)):
            discovery?.descriptors[characteristic] = records
        default: break  // refused: the objects that it would have shown do not exist
        }
    }

    private mutating func explore(_ service: ServiceRecord, _ context: inout DaemonContext) {
        send(.discoverIncludedServices(of: service.id, nil), for: .includes(of: service.id), &context)
        send(.discoverCharacteristics(of: service.id, nil), for: .characteristics(of: service.id), &context)
    }
}
#endif
