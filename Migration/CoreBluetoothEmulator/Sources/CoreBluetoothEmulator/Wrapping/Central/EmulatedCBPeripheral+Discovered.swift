import CoreBluetooth
import Foundation

/// The discovered attributes for attributes of the peripheral manager.
///
/// Clients of the library of this name use the server's objects as the central's. The attributes are found by type and
/// position among equal types, and discovered without a callback if necessary.
extension EmulatedCBPeripheral {
    /// The path of an attribute, with its position among those of its type.
    private struct Path {
        let uuid: CBUUID
        let index: Int
    }

    /// Calls `body` with the discovered service; at once, if it exists.
    func withDiscovered(
        _ service: EmulatedCBService, _ completion: RequestLedger.Completion? = nil,
        _ body: @escaping (CBService) -> Void
    ) {
        if let core = service.core { return body(core) }
        guard let path = path(of: service) else { return refuse(service, completion) }
        find(path, completion, body)
    }

    /// Calls `body` with the discovered characteristic; at once, if it exists.
    func withDiscovered(
        _ characteristic: EmulatedCBCharacteristic, _ completion: RequestLedger.Completion? = nil,
        _ body: @escaping (CBCharacteristic) -> Void
    ) {
        if let core = characteristic.core { return body(core) }
        guard let service = characteristic.service as? EmulatedCBMutableService,
            let path = path(of: characteristic, in: service)
        else { return refuse(characteristic, completion) }
        withDiscovered(service, completion) { [self] found in find(path, in: found, completion, body) }
    }

    private func refuse(_ attribute: NSObject, _ completion: RequestLedger.Completion?) {
        logMisuse("\(attribute) is no attribute of \(self)")
        completion?(.failed(CBError(.invalidHandle)))
    }

    // MARK: The server's side

    private func path(of service: EmulatedCBService) -> Path? {
        let equal = (server?.publishedServices ?? []).filter { $0.uuid == service.uuid && $0.isPrimary }
        return equal.firstIndex { $0 === service }.map { Path(uuid: service.uuid, index: $0) }
    }

    private func path(
        of characteristic: EmulatedCBCharacteristic, in service: EmulatedCBMutableService
    ) -> Path? {
        let equal = service.mutableCharacteristics.filter { $0.uuid == characteristic.uuid }
        return equal.firstIndex { $0 === characteristic }.map { Path(uuid: characteristic.uuid, index: $0) }
    }

    /// Returns the peripheral manager's service for a discovered one.
    func serverService(of found: CBService) -> EmulatedCBMutableService? {
        let equal = (core.services ?? []).filter { $0.uuid == found.uuid }
        let published = (server?.publishedServices ?? []).filter { $0.uuid == found.uuid && $0.isPrimary }
        guard let index = equal.firstIndex(where: { $0 === found }), index < published.count else { return nil }
        return published[index]
    }

    /// Returns the peripheral manager's characteristic for a discovered one.
    func serverCharacteristic(of found: CBCharacteristic) -> EmulatedCBMutableCharacteristic? {
        guard let service = found.service, let published = serverService(of: service) else { return nil }
        let equal = (service.characteristics ?? []).filter { $0.uuid == found.uuid }
        let served = published.mutableCharacteristics.filter { $0.uuid == found.uuid }
        guard let index = equal.firstIndex(where: { $0 === found }), index < served.count else { return nil }
        return served[index]
    }

    /// Returns the discovered object of a characteristic; nil if it was not discovered.
    func object(of characteristic: EmulatedCBCharacteristic) -> EmulatedCBCharacteristic? {
        guard characteristic.core == nil else { return characteristic }
        let found = (core.services ?? []).lazy.flatMap { $0.characteristics ?? [] }
            .first { self.serverCharacteristic(of: $0) === characteristic }
        return found.map(self.characteristic)
    }

    // MARK: The central's side

    private func find(
        _ path: Path, _ completion: RequestLedger.Completion?, _ body: @escaping (CBService) -> Void
    ) {
        let look = { [core] in (core.services ?? []).filter { $0.uuid == path.uuid }.dropFirst(path.index).first }
        if let found = look() { return body(found) }
        request(.services, answered(by: look, completion, body)) { core.discoverServices([path.uuid]) }
    }

    private func find(
        _ path: Path, in service: CBService, _ completion: RequestLedger.Completion?,
        _ body: @escaping (CBCharacteristic) -> Void
    ) {
        let look = {
            (service.characteristics ?? []).filter { $0.uuid == path.uuid }.dropFirst(path.index).first
        }
        if let found = look() { return body(found) }
        request(.characteristics(ObjectIdentifier(service)), answered(by: look, completion, body)) {
            core.discoverCharacteristics([path.uuid], for: service)
        }
    }

    /// Returns the completion of a discovery by the module itself.
    private func answered<Attribute>(
        by look: @escaping () -> Attribute?, _ completion: RequestLedger.Completion?,
        _ body: @escaping (Attribute) -> Void
    ) -> RequestLedger.Completion {
        { outcome in
            if let found = look() { return body(found) }
            if case .failed(let error) = outcome {
                logWarning("a command is dropped: its attribute could not be discovered: \(error)")
                completion?(outcome)
            } else {
                logMisuse("a command is dropped: the peripheral has its attribute no more")
                completion?(.failed(CBError(.invalidHandle)))
            }
        }
    }
}
