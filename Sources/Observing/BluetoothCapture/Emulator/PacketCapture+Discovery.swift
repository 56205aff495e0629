import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI

// Discoveries that are not on the air. Without them, a reader of the capture knows a handle but not its UUID.
extension PacketCapture {
    /// Discovers all services.
    mutating func discoverAll(on link: UInt32, at now: Duration) {
        guard let device = links[link]?.connection.device, let services = databases[device] else { return }
        for (request, response) in ATTProcedure.wholeDiscovery(of: services) {
            discover(request, response, on: link, at: now)
        }
    }

    /// Discovers the attribute with a handle, its characteristic and its service, unless they are already discovered.
    mutating func discover(_ handle: UInt16, on link: UInt32, at now: Duration) {
        guard let found = links[link], !found.knownHandles.contains(handle),
            let service = databases[found.connection.device]?.first(where: { $0.handles.contains(handle) })
        else { return }
        // Handles without an attribute are looked up only once.
        links[link]?.knownHandles.insert(handle)
        guard let characteristic = service.characteristics.last(where: { $0.declarationHandle <= handle }) else {
            return
        }
        if handle == characteristic.valueHandle || !found.knownHandles.contains(characteristic.valueHandle) {
            discover(.discoverServices, .services([service]), on: link, at: now)
            let declaration = characteristic.declarationHandle...characteristic.valueHandle
            discover(.discoverCharacteristics(in: declaration), .characteristics([characteristic]), on: link, at: now)
        }
        guard let descriptor = characteristic.descriptors.first(where: { $0.handle == handle }) else { return }
        discover(.discoverDescriptors(in: handle...handle), .descriptors([descriptor]), on: link, at: now)
    }

    private mutating func discover(
        _ request: ATTRequest, _ response: ATTResponse, on link: UInt32, at now: Duration
    ) {
        guard let mtu = links[link]?.mtu else { return }
        links[link]?.knownHandles.formUnion(response.handles)
        let comment = Self.notOnAir + ": the host knows these attributes without a discovery"
        // The end of a procedure carries no attribute.
        for exchange in ATTProcedure(request, mtu: mtu).exchanges(response) {
            if case .error = exchange.response { continue }
            send(exchange.request, of: link, from: .central, at: now, comment: comment)
            send(exchange.response, of: link, from: .peripheral, at: now, comment: comment)
        }
    }
}

extension ATTRequest {
    /// The handle of a read or written value; nil for discoveries.
    var valueHandle: UInt16? {
        switch self {
        case .read(let handle), .write(let handle, _, _): handle
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: nil
        }
    }
}

extension ATTResponse {
    /// The handles of the characteristics and descriptors in the response.
    var handles: [UInt16] {
        switch self {
        case .characteristics(let found): found.map(\.valueHandle)
        case .descriptors(let found): found.map(\.handle)
        case .services, .includedServices, .value, .written, .error: []
        }
    }
}
