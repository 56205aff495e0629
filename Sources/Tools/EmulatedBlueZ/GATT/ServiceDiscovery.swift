#if os(Linux)
import BluetoothBackend

/// The discovery of a device's services, which the daemon performs after each connect.
struct ServiceDiscovery: Sendable {
    var outstanding: Set<OperationID> = []
    var attributes = AttributeDirectory()
}

extension DaemonLink {
    mutating func discoverServices(_ context: inout DaemonContext) {
        discovery = ServiceDiscovery()
        discover(.discoverServices(nil), &context)
    }

    private mutating func discover(_ request: LinkRequest, _ context: inout DaemonContext) {
        send(request, for: .discovery(of: request.attribute), &context)
    }

    /// Records the response to a request of the discovery.
    ///
    /// - Returns: All attributes, if no other response is missing.
    mutating func discovered(
        _ response: LinkResponse, within parent: AttributeID?, to operation: OperationID,
        _ context: inout DaemonContext
    ) -> AttributeDirectory? {
        // The response may belong to a discovery that has been restarted since.
        guard discovery?.outstanding.remove(operation) != nil else { return nil }
        discover(within: response, &context)
        discovery?.attributes.apply(response, of: parent)
        guard let found = discovery, found.outstanding.isEmpty else { return nil }
        discovery = nil
        return found.attributes
    }

    /// Continues the discovery within new services and characteristics.
    ///
    /// No objects exist for attributes that the device refuses to show.
    private mutating func discover(within response: LinkResponse, _ context: inout DaemonContext) {
        for found in response.attributes {
            switch found {
            case .service(let record):
                guard discovery?.attributes[record.id] == nil else { continue }
                discover(.discoverIncludedServices(of: record.id, nil), &context)
                discover(.discoverCharacteristics(of: record.id, nil), &context)
            case .characteristic(let record): discover(.discoverDescriptors(of: record.id), &context)
            case .descriptor: break
            }
        }
    }
}
#endif
