/// An event that the controller sends.
///
/// Source: Core Specification, Vol 4, Part E, 7.7.
enum HCIEvent: UInt8, Sendable {
    case disconnectionComplete = 0x05
    case encryptionChange = 0x08
    case readRemoteVersionComplete = 0x0C
    case commandComplete = 0x0E
    case commandStatus = 0x0F
    case numberOfCompletedPackets = 0x13
    case dataBufferOverflow = 0x1A
    case encryptionKeyRefreshComplete = 0x30
    case lowEnergyMeta = 0x3E
}

/// A subevent of LE Meta that the controller sends.
///
/// Source: Core Specification, Vol 4, Part E, 7.7.65.
enum LowEnergyEvent: UInt8, Sendable {
    case connectionComplete = 0x01
    case advertisingReport = 0x02
    case connectionUpdateComplete = 0x03
    case readRemoteFeaturesComplete = 0x04
    case longTermKeyRequest = 0x05
    case remoteConnectionParameterRequest = 0x06
    case dataLengthChange = 0x07
    case enhancedConnectionComplete = 0x0A
    case phyUpdateComplete = 0x0C
    case extendedAdvertisingReport = 0x0D
    case scanTimeout = 0x11
    case advertisingSetTerminated = 0x12
    case channelSelectionAlgorithm = 0x14
}

/// The events that the host wants, with the masks after Reset.
///
/// The bit of an event follows from its code, so no table of bits exists.
///
/// Source: Core Specification, Vol 4, Part E, 7.3.1 and 7.8.1.
struct EventMask: Sendable {
    var events: UInt64 = 0x0000_1FFF_FFFF_FFFF
    var lowEnergy: UInt64 = 0x1F

    func allows(_ event: HCIEvent) -> Bool {
        switch event {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets: true
        default: events >> (UInt64(event.rawValue) - 1) & 1 == 1
        }
    }

    func allows(_ event: LowEnergyEvent) -> Bool {
        allows(.lowEnergyMeta) && lowEnergy >> (UInt64(event.rawValue) - 1) & 1 == 1
    }
}
