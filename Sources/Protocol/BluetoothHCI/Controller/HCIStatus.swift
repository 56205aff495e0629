/// An error code of the Host Controller Interface, with the specification's name.
///
/// Source: Core Specification, Vol 1, Part F, 1.3.
package enum HCIStatus: UInt8, Error, Sendable {
    case success = 0x00
    case unknownCommand = 0x01
    case unknownConnectionIdentifier = 0x02
    case authenticationFailure = 0x05
    case pinOrKeyMissing = 0x06
    case memoryCapacityExceeded = 0x07
    case connectionTimeout = 0x08
    case connectionLimitExceeded = 0x09
    case connectionAlreadyExists = 0x0B
    case commandDisallowed = 0x0C
    case unsupportedFeatureOrParameterValue = 0x11
    case invalidCommandParameters = 0x12
    case remoteUserTerminatedConnection = 0x13
    case remoteDeviceTerminatedDueToLowResources = 0x14
    case remoteDeviceTerminatedDueToPowerOff = 0x15
    case connectionTerminatedByLocalHost = 0x16
    case unsupportedRemoteFeature = 0x1A
    case pairingWithUnitKeyNotSupported = 0x29
    case unacceptableConnectionParameters = 0x3B
    case advertisingTimeout = 0x3C
    case connectionTerminatedDueToMICFailure = 0x3D
    case connectionFailedToBeEstablished = 0x3E
    case unknownAdvertisingIdentifier = 0x42
    case limitReached = 0x43
}
