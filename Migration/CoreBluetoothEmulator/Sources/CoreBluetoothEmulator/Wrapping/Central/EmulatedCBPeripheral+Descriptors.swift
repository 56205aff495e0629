import CoreBluetooth
import Foundation

/// Descriptors: those of a peripheral manager of this module are read and written at its objects, since they may be of
/// any type, have values of any type, and be writeable; others are accessed over the air.
extension EmulatedCBPeripheral {
    /// Updates the descriptors of a characteristic after a discovery, including those that are not on the air.
    func updateDescriptors(of found: CBCharacteristic) {
        let characteristic = characteristic(for: found)
        let known = characteristic.descriptors ?? []
        var unmatched = serverCharacteristic(of: found)?.mutableDescriptors ?? []
        let onAir = (found.descriptors ?? []).map { core -> EmulatedCBDescriptor in
            let server = unmatched.firstIndex { $0.uuid == core.uuid }.map { unmatched.remove(at: $0) }
            return known.first { $0.core === core }
                ?? EmulatedCBDescriptor(uuid: core.uuid, core, server, of: characteristic)
        }
        let others = unmatched.map { server in
            known.first { $0.core == nil && $0.server === server }
                ?? EmulatedCBDescriptor(uuid: server.uuid, nil, server, of: characteristic)
        }
        characteristic.setDescriptors(onAir + others)
    }

    /// Returns the object of a descriptor that was discovered over the air.
    func descriptor(for found: CBDescriptor) -> EmulatedCBDescriptor? {
        guard let parent = found.characteristic else { return nil }
        return characteristic(for: parent).descriptors?.first { $0.core === found }
    }

    func read(_ descriptor: EmulatedCBDescriptor, _ completion: RequestLedger.Completion?) {
        withObject(of: descriptor, completion) { [self] object in
            if let server = object.server {
                access(server, .read, after: world.configuration.readDelay, completion) { error in
                    if error == nil { object.setValue(server.value) }
                    self.answer(completion, error) { $0.peripheral(self, didUpdateValueFor: object, error: error) }
                }
            } else if let found = object.core {
                request(.read(ObjectIdentifier(found)), completion) { core.readValue(for: found) }
            }
        }
    }

    func write(_ data: Data, to descriptor: EmulatedCBDescriptor, _ completion: RequestLedger.Completion?) {
        withObject(of: descriptor, completion) { [self] object in
            if let server = object.server {
                access(server, .write, after: world.configuration.writeDelay, completion) { error in
                    if error == nil { server.setValue(data) }
                    self.answer(completion, error) { $0.peripheral(self, didWriteValueFor: object, error: error) }
                }
            } else if let found = object.core {
                request(.write(ObjectIdentifier(found)), completion) { core.writeValue(data, for: found) }
            }
        }
    }

    /// Calls `body` with the central's object, which is found or created for a descriptor of the peripheral manager.
    private func withObject(
        of descriptor: EmulatedCBDescriptor, _ completion: RequestLedger.Completion?,
        _ body: @escaping (EmulatedCBDescriptor) -> Void
    ) {
        guard let server = descriptor as? EmulatedCBMutableDescriptor else { return body(descriptor) }
        guard let parent = server.characteristic else {
            logMisuse("\(server) is no descriptor of \(self)")
            completion?(.failed(CBError(.invalidHandle)))
            return
        }
        withDiscovered(parent, completion) { [self] found in
            let characteristic = characteristic(for: found)
            body(
                characteristic.descriptors?.first { $0.server === server }
                    ?? EmulatedCBDescriptor(uuid: server.uuid, nil, server, of: characteristic))
        }
    }

    /// Checks an access on the manager's queue, after its duration.
    private func access(
        _ server: EmulatedCBMutableDescriptor, _ access: DescriptorAccess, after delay: TimeInterval,
        _ completion: RequestLedger.Completion?, _ body: @escaping ((any Error)?) -> Void
    ) {
        guard state == .connected else {
            logMisuse("\(self) is not connected")
            completion?(.failed(CBError(.notConnected)))
            return
        }
        let pairing = world.pairingTime(access, server.permissions, link) / .seconds(1)
        callLater(after: delay + pairing) { peripheral in
            guard peripheral.state == .connected else {
                // The delegate receives the disconnection.
                completion?(.failed(CBError(.notConnected)))
                return
            }
            body(peripheral.world.refusal(of: access, server.permissions, peripheral.link))
        }
    }

    private func answer(
        _ completion: RequestLedger.Completion?, _ error: (any Error)?,
        _ call: (any EmulatedCBPeripheralDelegate) -> Void
    ) {
        if let completion { return completion(error.map { .failed($0) } ?? .done) }
        if let delegate { call(delegate) }
    }
}
