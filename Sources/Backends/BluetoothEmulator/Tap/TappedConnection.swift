package import BluetoothBackend
import BluetoothSupport

/// An open link, as a tap reports it.
package struct TappedConnection: Hashable, Sendable {
    package let link: UInt32
    package let central: End
    package let peripheral: End
    /// The device that is the peripheral.
    package let device: UInt32
    package let parameters: ConnectionParameters
    /// The agreed ATT MTU, in bytes.
    package let mtu: Int
    /// The physical layer.
    package let phy: PHY
    /// The longest payload of a data packet, in bytes; it changes with the interval.
    package let dataLength: Int
    package let security: SecurityLevel
    /// The earlier link in the other direction whose physical link this one uses; nil if the link has its own.
    ///
    /// The physical link ends with the last of the two.
    package let sharedLink: UInt32?
    /// Whether the host knows the services from an earlier link, and so does not discover them.
    package let knowsServices: Bool

    /// One side of a link.
    package struct End: Hashable, Sendable {
        /// The host at this side; nil for a described device.
        package let host: Int?
        /// The identifier of this side at the host on the other side; nil if the other side is a described device.
        package let peer: PeerID?
        /// The address on the air.
        package let address: DeviceAddress
        /// The identity address, if the other side has the keys of this one; otherwise nil.
        package let identityAddress: DeviceAddress?
    }
}

/// A message of the Attribute Protocol, at the level of procedures.
///
/// A link has one request at a time, and the next response answers it. A procedure of several packets (a discovery, a
/// value longer than the MTU allows) is one request and one response; the MTU of the link determines the packets. A
/// response without a request answers a request from before the tap began.
package enum ATTMessage: Hashable, Sendable {
    /// The central sends a request with the connection event at `sentAt`, in the time of the world.
    case request(ATTRequest, sentAt: Duration)
    /// The answer, or its last packet, arrived at the central.
    case response(ATTResponse)
    /// A write command.
    case command(handle: UInt16, Data)
    case notification(handle: UInt16, Data)
    /// An indication, which the central confirms at once.
    case indication(handle: UInt16, Data)
}

package enum ATTRequest: Hashable, Sendable {
    /// Discovers all primary services.
    case discoverServices
    /// Discovers the include declarations of a service.
    case discoverIncludedServices(in: ClosedRange<UInt16>)
    /// Discovers the characteristics of a service.
    case discoverCharacteristics(in: ClosedRange<UInt16>)
    /// Discovers the descriptors of a characteristic.
    case discoverDescriptors(in: ClosedRange<UInt16>)
    /// Reads a value, including the necessary Read Blob requests.
    case read(handle: UInt16)
    /// Writes a value, or prepares and executes a long one or one from an offset.
    ///
    /// A subscription is a write of the Client Characteristic Configuration.
    case write(handle: UInt16, Data, offset: UInt16 = 0)
}

package enum ATTResponse: Hashable, Sendable {
    /// The primary services, without their attributes.
    case services([TappedService])
    case includedServices([TappedService.Include])
    /// The characteristics of a service, without their descriptors.
    case characteristics([TappedCharacteristic])
    case descriptors([TappedDescriptor])
    case value(Data)
    case written
    case error(ATTCode)
}

/// The capabilities of both sides of a pairing, and the method that follows from them.
package struct TappedPairingFeatures: Hashable, Sendable {
    package let central: PairingCapability
    package let peripheral: PairingCapability
    package let method: PairingMethod
}

/// The reason for which a channel was not opened.
///
/// Source: Core Specification, Vol 3, Part A, 4.23 (results of LE Credit Based Connection Response).
package enum ChannelRefusal: Hashable, Sendable {
    /// No service listens on the PSM.
    case noService
    case noResources
    case insufficientAuthentication
    case insufficientEncryption
}
