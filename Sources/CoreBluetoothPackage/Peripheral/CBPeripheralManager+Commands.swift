public import Foundation

// A command needs a powered-on manager; without a backend of this role there is none, so that each logs and returns.

extension CBPeripheralManager {
    /// Advertises. Answered by `peripheralManagerDidStartAdvertising(_:error:)`.
    ///
    /// - Parameter advertisementData: ``CBAdvertisementDataLocalNameKey`` and ``CBAdvertisementDataServiceUUIDsKey``; other
    ///   keys are ignored.
    public func startAdvertising(_ advertisementData: [String: Any]?) { Misuse.notPoweredOn(self) }

    /// Stops advertising. No callback.
    public func stopAdvertising() { Misuse.notPoweredOn(self) }

    /// Asks for another connection interval. A hint, without callback.
    public func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
    ) {
        Misuse.notPoweredOn(self)
    }

    /// Publishes a service. Answered by `peripheralManager(_:didAdd:error:)`.
    public func add(_ service: CBMutableService) { Misuse.notPoweredOn(self) }

    /// Withdraws a service. No callback.
    public func remove(_ service: CBMutableService) { Misuse.notPoweredOn(self) }

    /// Withdraws all services of this manager. No callback.
    public func removeAllServices() { Misuse.notPoweredOn(self) }

    /// Answers a read or write, exactly once for each callback.
    ///
    /// - Parameters:
    ///   - request: The request of the callback; of several, the first one.
    ///   - result: `.success`, or the error that the central gets.
    public func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { Misuse.notPoweredOn(self) }

    /// Sends a notification or indication.
    ///
    /// - Parameters:
    ///   - value: The value; cut to each central's `maximumUpdateValueLength`.
    ///   - characteristic: A published characteristic.
    ///   - centrals: Who is meant; nil is every subscriber.
    /// - Returns: Whether it was queued. After false nothing is sent; send it again after
    ///   `peripheralManagerIsReady(toUpdateSubscribers:)`.
    public func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        Misuse.notPoweredOn(self)
        return false
    }

    /// Listens for L2CAP channels. Answered by `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    ///
    /// - Parameter encryptionRequired: Whether centrals have to encrypt the link first.
    public func publishL2CAPChannel(withEncryption encryptionRequired: Bool) { Misuse.notPoweredOn(self) }

    /// Stops to listen. Answered by `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    public func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) { Misuse.notPoweredOn(self) }
}
