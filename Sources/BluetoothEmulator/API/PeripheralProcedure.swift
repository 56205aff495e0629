public import BluetoothBackend
public import BluetoothValues

/// What a central does besides reading and writing, and a device may refuse.
public enum PeripheralProcedure: Hashable, Sendable {
    /// Looks for services.
    case discoverServices
    /// Looks for the services that a service includes.
    case discoverIncludedServices(of: BluetoothUUID)
    /// Looks for the characteristics of a service.
    case discoverCharacteristics(of: BluetoothUUID)
    /// Looks for the descriptors of a characteristic.
    case discoverDescriptors(of: BluetoothUUID)
    /// Writes the Client Characteristic Configuration of a characteristic, to be told of its value.
    case subscribe(to: BluetoothUUID)
    /// Writes the Client Characteristic Configuration of a characteristic, to hear no more.
    case unsubscribe(from: BluetoothUUID)
}

/// A device's answer to a procedure.
public enum ProcedureResponse: Hashable, Sendable {
    /// The server does it.
    case granted
    /// The procedure is refused.
    case error(ATTCode)
    /// There is no answer, ever; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}
