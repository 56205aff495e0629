import CoreBluetooth

/// The functions of a spec's delegate in versions before 1.0 of the original: with the classes of apps rather than
/// those of the server.
///
/// Each is called if the delegate lacks the function of ``CBMPeripheralSpecDelegate`` with the same name. The objects
/// are the server's. All functions have default bodies.
public protocol CBMEarlierPeripheralSpecDelegate {
    /// A central looks for the services that a service includes.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMService
    ) -> Result<Void, any Error>

    /// A central looks for the characteristics of a service.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMService
    ) -> Result<Void, any Error>

    /// A central looks for the descriptors of a characteristic.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristic
    ) -> Result<Void, any Error>

    /// A central reads a characteristic; returns the value, up to 512 bytes.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristic
    ) -> Result<Data, any Error>

    /// A central reads a descriptor.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptor
    ) -> Result<Data, any Error>

    /// A central writes a whole value with a response.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristic, data: Data
    ) -> Result<Void, any Error>

    /// A central writes without a response.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristic, data: Data)

    /// A central writes a descriptor.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptor, data: Data
    ) -> Result<Void, any Error>

    /// A central subscribes to a characteristic or unsubscribes from it.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool, for characteristic: CBMCharacteristic
    ) -> Result<Void, any Error>
}

extension CBMEarlierPeripheralSpecDelegate {
    /// Accepts the discovery.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMService
    ) -> Result<Void, any Error> { .success(()) }

    /// Accepts the discovery.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMService
    ) -> Result<Void, any Error> { .success(()) }

    /// Accepts the discovery.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristic
    ) -> Result<Void, any Error> { .success(()) }

    /// Fails with `CBMATTError(.readNotPermitted)`.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristic
    ) -> Result<Data, any Error> { .failure(CBMATTError(.readNotPermitted)) }

    /// Fails with `CBMATTError(.readNotPermitted)`.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptor
    ) -> Result<Data, any Error> { .failure(CBMATTError(.readNotPermitted)) }

    /// Fails with `CBMATTError(.writeNotPermitted)`.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristic, data: Data
    ) -> Result<Void, any Error> { .failure(CBMATTError(.writeNotPermitted)) }

    /// Does nothing.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristic, data: Data
    ) {}

    /// Fails with `CBMATTError(.writeNotPermitted)`.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptor, data: Data
    ) -> Result<Void, any Error> { .failure(CBMATTError(.writeNotPermitted)) }

    /// Succeeds if the characteristic notifies or indicates; otherwise fails with `CBMError(.invalidHandle)`.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool, for characteristic: CBMCharacteristic
    ) -> Result<Void, any Error> {
        let subscribing: CBMCharacteristicProperties = [
            .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ]
        guard !characteristic.properties.isDisjoint(with: subscribing) else {
            return .failure(CBMError(.invalidHandle))
        }
        return .success(())
    }
}
