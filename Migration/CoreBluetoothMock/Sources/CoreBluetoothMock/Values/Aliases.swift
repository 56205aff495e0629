import CoreBluetooth

// The values that both modules share: code that mixes this module with CoreBluetooth compares and casts them.

/// A UUID of 16, 32 or 128 bits.
public typealias CBMUUID = CBUUID
/// An error of the manager or of a connection.
public typealias CBMError = CBError
/// An error that a peripheral answers with.
public typealias CBMATTError = CBATTError
/// A change of a device's connection to the system.
public typealias CBMConnectionEvent = CBConnectionEvent
/// An option that selects the devices whose connection events are reported.
public typealias CBMConnectionEventMatchingOption = CBConnectionEventMatchingOption
/// The state of a peripheral's connection with a manager.
public typealias CBMPeripheralState = CBPeripheralState
/// The kind of a write.
public typealias CBMCharacteristicWriteType = CBCharacteristicWriteType
/// The properties of a characteristic.
public typealias CBMCharacteristicProperties = CBCharacteristicProperties
/// The number of an L2CAP channel.
public typealias CBML2CAPPSM = CBL2CAPPSM
/// An open L2CAP channel.
public typealias CBML2CAPChannel = CBL2CAPChannel
/// Whether the process may use Bluetooth.
public typealias CBMManagerAuthorization = CBManagerAuthorization

extension CBMCentralManager {
    /// Features of an adapter.
    public typealias Feature = CBCentralManager.Feature
}

// The peripheral role.

/// The permissions of a local attribute.
public typealias CBMAttributePermissions = CBAttributePermissions
/// The connection interval that the peripheral role requests.
public typealias CBMPeripheralManagerConnectionLatency = CBPeripheralManagerConnectionLatency
