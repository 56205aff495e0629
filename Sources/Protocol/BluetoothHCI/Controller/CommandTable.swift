/// A command that the controller knows.
///
/// ``definition`` is the one table: the answers to Read Local Supported Commands and LE Read Local Supported Features, the
/// checks of lengths and the kind of answer follow from it.
///
/// Source: Core Specification, Vol 4, Part E, 7; 6.27 for the bits.
package enum HCICommand: UInt16, CaseIterable, Sendable {
    case disconnect = 0x0406
    case readRemoteVersion = 0x041D

    case setEventMask = 0x0C01
    case reset = 0x0C03
    case readTransmitPowerLevel = 0x0C2D
    case setControllerToHostFlowControl = 0x0C31
    case hostBufferSize = 0x0C33
    case hostNumberOfCompletedPackets = 0x0C35
    case setEventMaskPage2 = 0x0C63
    case readLEHostSupport = 0x0C6C
    case writeLEHostSupport = 0x0C6D

    case readLocalVersion = 0x1001
    case readLocalSupportedCommands = 0x1002
    case readLocalSupportedFeatures = 0x1003
    case readLocalExtendedFeatures = 0x1004
    case readBufferSize = 0x1005
    case readAddress = 0x1009
    case readRSSI = 0x1405

    case setLEEventMask = 0x2001
    case readLEBufferSize = 0x2002
    case readLELocalFeatures = 0x2003
    case setRandomAddress = 0x2005
    case setAdvertisingParameters = 0x2006
    case readAdvertisingTransmitPower = 0x2007
    case setAdvertisingData = 0x2008
    case setScanResponseData = 0x2009
    case setAdvertisingEnable = 0x200A
    case setScanParameters = 0x200B
    case setScanEnable = 0x200C
    case createConnection = 0x200D
    case createConnectionCancel = 0x200E
    case readAcceptListSize = 0x200F
    case clearAcceptList = 0x2010
    case addDeviceToAcceptList = 0x2011
    case removeDeviceFromAcceptList = 0x2012
    case connectionUpdate = 0x2013
    case setHostChannelClassification = 0x2014
    case readChannelMap = 0x2015
    case readRemoteFeatures = 0x2016
    case encrypt = 0x2017
    case random = 0x2018
    case enableEncryption = 0x2019
    case longTermKeyRequestReply = 0x201A
    case longTermKeyRequestNegativeReply = 0x201B
    case readSupportedStates = 0x201C
    case remoteConnectionParameterRequestReply = 0x2020
    case remoteConnectionParameterRequestNegativeReply = 0x2021
    case setDataLength = 0x2022
    case readSuggestedDefaultDataLength = 0x2023
    case writeSuggestedDefaultDataLength = 0x2024
    case addDeviceToResolvingList = 0x2027
    case removeDeviceFromResolvingList = 0x2028
    case clearResolvingList = 0x2029
    case readResolvingListSize = 0x202A
    case readPeerResolvableAddress = 0x202B
    case readLocalResolvableAddress = 0x202C
    case setAddressResolutionEnable = 0x202D
    case setResolvablePrivateAddressTimeout = 0x202E
    case readMaximumDataLength = 0x202F
    case readPHY = 0x2030
    case setDefaultPHY = 0x2031
    case setPHY = 0x2032
    case setAdvertisingSetRandomAddress = 0x2035
    case setExtendedAdvertisingParameters = 0x2036
    case setExtendedAdvertisingData = 0x2037
    case setExtendedScanResponseData = 0x2038
    case setExtendedAdvertisingEnable = 0x2039
    case readMaximumAdvertisingDataLength = 0x203A
    case readNumberOfSupportedAdvertisingSets = 0x203B
    case removeAdvertisingSet = 0x203C
    case clearAdvertisingSets = 0x203D
    case setExtendedScanParameters = 0x2041
    case setExtendedScanEnable = 0x2042
    case extendedCreateConnection = 0x2043
    case readLETransmitPower = 0x204B
    case setPrivacyMode = 0x204E
    case readLEBufferSizeV2 = 0x2060

    struct Definition: Sendable {
        /// The place in Read Local Supported Commands.
        let octet: Int
        let bit: Int
        /// The length of the parameters.
        let length: ClosedRange<Int>
        let answer: Answer
        let family: Family?
        /// The features of the Link Layer that the command belongs to.
        let features: LowEnergyFeatures
    }

    /// The event that answers a command.
    enum Answer: Sendable {
        case commandComplete
        /// Command Complete whose return parameters begin with a status and the connection handle of the command, in case
        /// of an error, too.
        ///
        /// Source: Core Specification, Vol 4, Part E, 4.5.
        case commandCompleteWithHandle
        case commandStatus
        /// Command Complete in case of an error alone.
        case errorsAlone
    }

    /// Commands of which a host uses those of one family alone until Reset.
    ///
    /// Source: Core Specification, Vol 4, Part E, 3.1.1.
    enum Family: Sendable {
        case legacy
        case extended
    }

    var definition: Definition {
        switch self {
        case .disconnect: row(0, 5, 3, answer: .commandStatus)
        case .readRemoteVersion: row(2, 7, 2, answer: .commandStatus)

        case .setEventMask: row(5, 6, 8)
        case .reset: row(5, 7, 0)
        case .readTransmitPowerLevel: row(10, 2, 3, answer: .commandCompleteWithHandle)
        case .setControllerToHostFlowControl: row(10, 5, 1)
        case .hostBufferSize: row(10, 6, 7)
        case .hostNumberOfCompletedPackets: row(10, 7, 1...255, answer: .errorsAlone)
        case .setEventMaskPage2: row(22, 2, 8)
        case .readLEHostSupport: row(24, 5, 0)
        case .writeLEHostSupport: row(24, 6, 2)

        case .readLocalVersion: row(14, 3, 0)
        case .readLocalSupportedCommands: row(14, 4, 0)
        case .readLocalSupportedFeatures: row(14, 5, 0)
        case .readLocalExtendedFeatures: row(14, 6, 1)
        case .readBufferSize: row(14, 7, 0)
        case .readAddress: row(15, 1, 0)
        case .readRSSI: row(15, 5, 2, answer: .commandCompleteWithHandle)

        case .setLEEventMask: row(25, 0, 8)
        case .readLEBufferSize: row(25, 1, 0)
        case .readLELocalFeatures: row(25, 2, 0)
        case .setRandomAddress: row(25, 4, 6)
        case .setAdvertisingParameters: row(25, 5, 15, family: .legacy)
        case .readAdvertisingTransmitPower: row(25, 6, 0, family: .legacy)
        case .setAdvertisingData: row(25, 7, 32, family: .legacy)
        case .setScanResponseData: row(26, 0, 32, family: .legacy)
        case .setAdvertisingEnable: row(26, 1, 1, family: .legacy)
        case .setScanParameters: row(26, 2, 7, family: .legacy)
        case .setScanEnable: row(26, 3, 2, family: .legacy)
        case .createConnection: row(26, 4, 25, answer: .commandStatus, family: .legacy)
        case .createConnectionCancel: row(26, 5, 0)
        case .readAcceptListSize: row(26, 6, 0)
        case .clearAcceptList: row(26, 7, 0)
        case .addDeviceToAcceptList: row(27, 0, 7)
        case .removeDeviceFromAcceptList: row(27, 1, 7)
        case .connectionUpdate: row(27, 2, 14, answer: .commandStatus)
        case .setHostChannelClassification: row(27, 3, 5)
        case .readChannelMap: row(27, 4, 2, answer: .commandCompleteWithHandle)
        case .readRemoteFeatures:
            row(27, 5, 2, answer: .commandStatus, features: [.peripheralInitiatedFeaturesExchange])
        case .encrypt: row(27, 6, 32)
        case .random: row(27, 7, 0)
        case .enableEncryption: row(28, 0, 28, answer: .commandStatus, features: [.encryption])
        case .longTermKeyRequestReply: row(28, 1, 18, answer: .commandCompleteWithHandle, features: [.encryption])
        case .longTermKeyRequestNegativeReply:
            row(28, 2, 2, answer: .commandCompleteWithHandle, features: [.encryption])
        case .readSupportedStates: row(28, 3, 0)
        case .remoteConnectionParameterRequestReply:
            row(33, 4, 14, answer: .commandCompleteWithHandle, features: [.connectionParametersRequest])
        case .remoteConnectionParameterRequestNegativeReply:
            row(33, 5, 3, answer: .commandCompleteWithHandle, features: [.connectionParametersRequest])
        case .setDataLength: row(33, 6, 6, answer: .commandCompleteWithHandle, features: [.dataLength])
        case .readSuggestedDefaultDataLength: row(33, 7, 0, features: [.dataLength])
        case .writeSuggestedDefaultDataLength: row(34, 0, 4, features: [.dataLength])
        case .addDeviceToResolvingList: row(34, 3, 39, features: [.privacy])
        case .removeDeviceFromResolvingList: row(34, 4, 7, features: [.privacy])
        case .clearResolvingList: row(34, 5, 0, features: [.privacy])
        case .readResolvingListSize: row(34, 6, 0, features: [.privacy])
        case .readPeerResolvableAddress: row(34, 7, 7, features: [.privacy])
        case .readLocalResolvableAddress: row(35, 0, 7, features: [.privacy])
        case .setAddressResolutionEnable: row(35, 1, 1, features: [.privacy])
        case .setResolvablePrivateAddressTimeout: row(35, 2, 2, features: [.privacy])
        case .readMaximumDataLength: row(35, 3, 0, features: [.dataLength])
        case .readPHY: row(35, 4, 2, answer: .commandCompleteWithHandle, features: [.phy2M, .phyCoded])
        case .setDefaultPHY: row(35, 5, 3, features: [.phy2M, .phyCoded])
        case .setPHY: row(35, 6, 7, answer: .commandStatus, features: [.phy2M, .phyCoded])
        case .setAdvertisingSetRandomAddress: row(36, 1, 7, features: [.extendedAdvertising], family: .extended)
        case .setExtendedAdvertisingParameters: row(36, 2, 25, features: [.extendedAdvertising], family: .extended)
        case .setExtendedAdvertisingData: row(36, 3, 4...255, features: [.extendedAdvertising], family: .extended)
        case .setExtendedScanResponseData: row(36, 4, 4...255, features: [.extendedAdvertising], family: .extended)
        case .setExtendedAdvertisingEnable: row(36, 5, 2...255, features: [.extendedAdvertising], family: .extended)
        case .readMaximumAdvertisingDataLength: row(36, 6, 0, features: [.extendedAdvertising], family: .extended)
        case .readNumberOfSupportedAdvertisingSets: row(36, 7, 0, features: [.extendedAdvertising], family: .extended)
        case .removeAdvertisingSet: row(37, 0, 1, features: [.extendedAdvertising], family: .extended)
        case .clearAdvertisingSets: row(37, 1, 0, features: [.extendedAdvertising], family: .extended)
        case .setExtendedScanParameters: row(37, 5, 8...255, features: [.extendedAdvertising], family: .extended)
        case .setExtendedScanEnable: row(37, 6, 6, features: [.extendedAdvertising], family: .extended)
        case .extendedCreateConnection:
            row(
                37, 7, 26...255, answer: .commandStatus,
                features: [.extendedAdvertising, .channelSelectionAlgorithm2], family: .extended)
        case .readLETransmitPower: row(38, 7, 0)
        case .setPrivacyMode: row(39, 2, 8, features: [.privacy])
        case .readLEBufferSizeV2: row(41, 5, 0)
        }
    }

    private func row(
        _ octet: Int, _ bit: Int, _ length: Int, answer: Answer = .commandComplete, features: LowEnergyFeatures = [],
        family: Family? = nil
    ) -> Definition {
        row(octet, bit, length...length, answer: answer, features: features, family: family)
    }

    private func row(
        _ octet: Int, _ bit: Int, _ length: ClosedRange<Int>, answer: Answer = .commandComplete,
        features: LowEnergyFeatures = [], family: Family? = nil
    ) -> Definition {
        Definition(octet: octet, bit: bit, length: length, answer: answer, family: family, features: features)
    }

    /// The 64 octets of Read Local Supported Commands.
    static let supportedCommands: [UInt8] = allCases.reduce(into: [UInt8](repeating: 0, count: 64)) { octets, command in
        octets[command.definition.octet] |= 1 << command.definition.bit
    }
}

/// The features of the Link Layer.
///
/// Source: Core Specification, Vol 6, Part B, 4.6.
struct LowEnergyFeatures: OptionSet, Sendable {
    let rawValue: UInt64

    static let encryption = LowEnergyFeatures(rawValue: 1 << 0)
    static let connectionParametersRequest = LowEnergyFeatures(rawValue: 1 << 1)
    static let peripheralInitiatedFeaturesExchange = LowEnergyFeatures(rawValue: 1 << 3)
    static let dataLength = LowEnergyFeatures(rawValue: 1 << 5)
    static let privacy = LowEnergyFeatures(rawValue: 1 << 6)
    static let phy2M = LowEnergyFeatures(rawValue: 1 << 8)
    static let phyCoded = LowEnergyFeatures(rawValue: 1 << 11)
    static let extendedAdvertising = LowEnergyFeatures(rawValue: 1 << 12)
    static let channelSelectionAlgorithm2 = LowEnergyFeatures(rawValue: 1 << 14)

    /// Those of the commands that the controller knows.
    static let supported: LowEnergyFeatures = HCICommand.allCases.reduce(into: []) { features, command in
        features.formUnion(command.definition.features)
    }
}
