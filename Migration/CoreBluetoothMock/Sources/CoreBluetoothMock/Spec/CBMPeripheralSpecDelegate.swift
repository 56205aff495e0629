import CoreBluetooth

/// The behavior of a simulated peripheral: its answers to the requests of centrals.
///
/// All functions have default bodies. Those of versions 0.17 and 0.18 are called too, if these are not implemented: see
/// ``CBMEarlierPeripheralSpecDelegate``. They are called one at a time per world, on a queue of the world, while no
/// lock is held: they may call every `simulate…` function. In virtual time the world waits for them. The app receives
/// the error that a function fails with; the code of a ``CBMATTError`` is sent over the air.
public protocol CBMPeripheralSpecDelegate: CBMEarlierPeripheralSpecDelegate {
    /// The peripheral was reset by `simulateReset()`.
    func reset()

    /// A central connects. Called once for each attempt.
    ///
    /// - Returns: On failure, the app receives `didFailToConnect` with the error.
    func peripheralDidReceiveConnectionRequest(_ peripheral: CBMPeripheralSpec) -> Result<Void, any Error>

    /// The last link of the peripheral ended; the error is nil if the app or its system ended it.
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

    /// A central reads a characteristic; returns the value, up to 512 bytes.
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
    /// The default succeeds if the characteristic notifies or indicates, and otherwise fails with
    /// `CBMError(.invalidHandle)`.
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

    /// Accepts the connection.
    public func peripheralDidReceiveConnectionRequest(
        _ peripheral: CBMPeripheralSpec
    ) -> Result<Void, any Error> { .success(()) }

    /// Does nothing.
    public func peripheral(_ peripheral: CBMPeripheralSpec, didDisconnect error: (any Error)?) {}

    /// Accepts the discovery.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?
    ) -> Result<Void, any Error> { .success(()) }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveIncludedServiceDiscoveryRequest: serviceUUIDs, for: service as CBMService)
    }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveCharacteristicsDiscoveryRequest: characteristicUUIDs, for: service as CBMService)
    }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveDescriptorsDiscoveryRequestFor: characteristic as CBMCharacteristic)
    }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error> {
        peripheral(spec, didReceiveReadRequestFor: characteristic as CBMCharacteristic)
    }

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptorMock
    ) -> Result<Data, any Error> {
        peripheral(spec, didReceiveReadRequestFor: descriptor as CBMDescriptor)
    }

    /// Calls the function of earlier versions.
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

    /// Calls the function of earlier versions.
    public func peripheral(
        _ spec: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptorMock, data: Data
    ) -> Result<Void, any Error> {
        peripheral(spec, didReceiveWriteRequestFor: descriptor as CBMDescriptor, data: data)
    }

    /// Calls the function of earlier versions.
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
