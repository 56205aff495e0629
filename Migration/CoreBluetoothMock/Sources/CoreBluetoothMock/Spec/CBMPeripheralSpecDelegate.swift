import CoreBluetooth

/// The behaviour of a simulated peripheral: answers what centrals ask it for.
///
/// All functions have default bodies. Those of versions 0.17 and 0.18 are called too, where these are not there: see
/// ``CBMEarlierPeripheralSpecDelegate``. They are called one at a time per world, on a queue of the world, with no lock held:
/// they may call every `simulate…` function. In virtual time the world waits for them. An error that a function fails with
/// is what the app gets; of a ``CBMATTError``, its code goes over the air.
public protocol CBMPeripheralSpecDelegate: CBMEarlierPeripheralSpecDelegate {
    /// The peripheral was reset by `simulateReset()`.
    func reset()

    /// A central connects. Called once for each attempt.
    ///
    /// - Returns: On failure, the app gets `didFailToConnect` with the error.
    func peripheralDidReceiveConnectionRequest(_ peripheral: CBMPeripheralSpec) -> Result<Void, any Error>

    /// The last link of the peripheral is over; the error is nil where the app or its system ended it.
    func peripheral(_ peripheral: CBMPeripheralSpec, didDisconnect error: (any Error)?)

    /// A central looks for services of these types, or for all.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?
    ) -> Result<Void, any Error>

    /// A central looks for the services that a service includes.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error>

    /// A central looks for the characteristics of a service.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error>

    /// A central looks for the descriptors of a characteristic.
    func peripheral(
        _ peripheral: CBMPeripheralSpec,
        didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error>

    /// A central reads a characteristic: the value, up to 512 bytes.
    ///
    /// The default fails with `CBMATTError(.readNotPermitted)`.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error>

    /// A central reads a descriptor.
    ///
    /// The default fails with `CBMATTError(.readNotPermitted)`.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptorMock
    ) -> Result<Data, any Error>

    /// A central writes a whole value with a response.
    ///
    /// The default fails with `CBMATTError(.writeNotPermitted)`.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, any Error>

    /// A central writes without a response.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data)

    /// A central writes a descriptor.
    ///
    /// The default fails with `CBMATTError(.writeNotPermitted)`.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptorMock, data: Data
    ) -> Result<Void, any Error>

    /// A central subscribes to a characteristic or unsubscribes from it.
    ///
    /// The default succeeds where the characteristic notifies or indicates, and fails with `CBMError(.invalidHandle)`
    /// elsewhere.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool,
        for characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error>

    /// The app has received the answer to its `setNotifyValue(_:for:)`.
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didUpdateNotificationStateFor characteristic: CBMCharacteristicMock,
        error: (any Error)?)
}

extension CBMPeripheralSpecDelegate {
    /// Does nothing.
    public func reset() {}

    /// Accepts.
    public func peripheralDidReceiveConnectionRequest(
        _ peripheral: CBMPeripheralSpec
    ) -> Result<Void, any Error> { .success(()) }

    /// Does nothing.
    public func peripheral(_ peripheral: CBMPeripheralSpec, didDisconnect error: (any Error)?) {}

    /// Grants it.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?
    ) -> Result<Void, any Error> { .success(()) }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveIncludedServiceDiscoveryRequest: serviceUUIDs, for: service as CBMService)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveCharacteristicsDiscoveryRequest: characteristicUUIDs, for: service as CBMService)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveDescriptorsDiscoveryRequestFor: characteristic as CBMCharacteristic)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error> {
        peripheral(spec, didReceiveReadRequestFor: characteristic as CBMCharacteristic)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptorMock
    ) -> Result<Data, any Error> {
        peripheral(spec, didReceiveReadRequestFor: descriptor as CBMDescriptor)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveWriteRequestFor: characteristic as CBMCharacteristic, data: data)
    }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data
    ) {
        peripheral(spec, didReceiveWriteCommandFor: characteristic as CBMCharacteristic, data: data)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptorMock, data: Data
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveWriteRequestFor: descriptor as CBMDescriptor, data: data)
    }

    /// Asks the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool, for characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveSetNotifyRequest: enabled, for: characteristic as CBMCharacteristic)
    }

    /// Does nothing.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didUpdateNotificationStateFor characteristic: CBMCharacteristicMock,
        error: (any Error)?
    ) {}
}
