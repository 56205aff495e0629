/// A command of a controller to its Link Layer, which performs it on the air.
///
/// Frames are whole L2CAP packets; the controller joins the fragments of its host. Handles are the connection handles of
/// HCI, which the Link Layer chooses with ``LinkLayerEvent/connected(_:)``.
package enum LinkLayerCommand: Hashable, Sendable {
    /// Receives advertising packets, and reports each of them; nil ends that.
    case scan(ScanSettings?)
    /// Advertises with a set, or changes it; nil ends that. Legacy advertising is set 0.
    case advertise(set: UInt8, AdvertisingSettings?)
    /// Connects to the first connectable packet of one of the devices; during a connect, replaces its devices.
    case connect([HCIAddress], ConnectionSettings)
    /// Ends the connect; answered by `connectEnded` or, if it was too late, by `connected`.
    case cancelConnect
    /// Ends a link with an error code that its other end gets as the reason.
    case disconnect(handle: UInt16, reason: UInt8)
    /// Sends an L2CAP packet; answered by `sent`, unless the link ends first.
    case send(handle: UInt16, channel: UInt16, [UInt8])
    /// Asks for other parameters; answered by `parametersChanged`.
    case updateParameters(handle: UInt16, HCIConnectionParameters)
    /// Answers `parametersRequested`: the parameters that the link gets, or nil if it keeps those that it has.
    case answerParametersRequest(handle: UInt16, HCIConnectionParameters?)
    /// Answered by `signalStrength`.
    case readSignalStrength(handle: UInt16)
    /// Starts encryption as the central, or changes the key; answered by `encryptionChanged`.
    ///
    /// The key has 16 bytes, most significant first.
    case encrypt(handle: UInt16, key: [UInt8], random: UInt64, diversifier: UInt16)
    /// Answers `keyRequested` as the peripheral: a key of 16 bytes, or nil if there is none.
    case answerKeyRequest(handle: UInt16, key: [UInt8]?)
    /// Ends everything without an event.
    case reset

    package struct ScanSettings: Hashable, Sendable {
        /// Whether scan responses are requested.
        package var isActive: Bool
        /// Whether extended packets are received, too.
        package var includesExtended: Bool
        /// The time after which it ends with `scanEnded`; nil if it does not.
        package var duration: Duration?
    }

    package struct AdvertisingSettings: Hashable, Sendable {
        package var address: HCIAddress
        /// The AD structures, as the host gave them.
        package var data: [UInt8]
        /// The AD structures of the scan response.
        package var scanResponse: [UInt8]
        package var interval: Duration
        package var isConnectable: Bool
        package var isScannable: Bool
        package var isExtended: Bool
        /// The central to which the packets are directed; nil if all may answer.
        package var peer: HCIAddress?
        /// The centrals that may connect; nil if all may.
        package var acceptedCentrals: Set<HCIAddress>?
        /// The number that an extended packet has, 0...15: ``AdvertisingReport/setID``.
        package var setID: UInt8?
        /// The time after which it ends with `advertisingEnded`; nil if it does not.
        package var duration: Duration?
    }

    package struct ConnectionSettings: Hashable, Sendable {
        /// The host's own address for the link.
        package var address: HCIAddress
        package var parameters: HCIConnectionParameters
    }
}

/// An event of the Link Layer for its controller.
package enum LinkLayerEvent: Hashable, Sendable {
    /// An advertising packet, with the data of up to 1,650 bytes in one report; that of an extended packet has a set.
    case heard(AdvertisingReport)
    /// The duration of the scan has passed.
    case scanEnded
    /// The duration of a set's advertising has passed.
    case advertisingEnded(set: UInt8)
    /// A link is up, in either role; its addresses are those on the air.
    ///
    /// The connectable set that led to it has ended; nil stands for the only one.
    case connected(HCIConnection, set: UInt8? = nil)
    /// The connect ended without a link, with an error code.
    case connectEnded(status: UInt8)
    /// A link ended, with an error code.
    case disconnected(handle: UInt16, reason: UInt8)
    /// An L2CAP packet arrived.
    case received(handle: UInt16, channel: UInt16, [UInt8])
    /// The oldest packet that was to be sent on the link is on its way.
    case sent(handle: UInt16)
    case parametersChanged(handle: UInt16, status: UInt8, HCIConnectionParameters)
    /// The other end asks for other parameters; `answerParametersRequest` answers.
    case parametersRequested(handle: UInt16, HCIConnectionParameters)
    /// The signal strength in dBm; 127 if it is unknown.
    case signalStrength(handle: UInt16, Int8)
    /// The central starts encryption; `answerKeyRequest` answers.
    case keyRequested(handle: UInt16, random: UInt64, diversifier: UInt16)
    /// Encryption has started, or has failed with an error code.
    case encryptionChanged(handle: UInt16, status: UInt8)
}
