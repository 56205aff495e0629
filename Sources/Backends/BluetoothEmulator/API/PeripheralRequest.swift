public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// The central that sends a request, as the device knows it.
public struct CentralIdentity: Hashable, Sendable {
    /// The name of the central's host.
    public var host: String
    /// The central's address.
    public var address: DeviceAddress
    /// The ATT MTU of the central's link, in bytes.
    public var mtu: Int
}

/// A central that connects to a device.
public struct ConnectionRequest: Hashable, Sendable {
    /// The central; its MTU is the minimum until the link is up.
    public var central: CentralIdentity
}

/// A device's answer to a central that connects.
public enum ConnectionResponse: Hashable, Sendable {
    /// The link comes up.
    case accepted
    /// The connect fails with `CBError.connectionFailed`.
    case refused
    /// The connect fails, and the app receives this error.
    case failure(OpaqueError)
}

/// A central's request to read or write an attribute.
public struct PeripheralRequest: Hashable, Sendable {
    /// The kind of a request.
    public enum Kind: Hashable, Sendable {
        /// A read of the whole value; the server divides it into packets.
        case read
        /// A write that the device answers.
        ///
        /// If a central writes from an offset, as programs of the emulated BlueZ may, the value is the result: the stored
        /// value with the bytes in it. The server refuses an offset beyond the end of the stored value.
        case write(Data)
        /// A write without a response.
        case writeCommand(Data)
    }

    /// The central that sends the request.
    public var central: CentralIdentity
    /// The kind of the request.
    public var kind: Kind
    /// The attribute.
    public var attribute: AttributeID
    /// The attribute's position in the device; nil in the services 1800 and 1801.
    public var position: AttributePosition?
    /// The UUID of the attribute's service.
    public var service: BluetoothUUID
    /// The UUID of the attribute's characteristic.
    public var characteristic: BluetoothUUID
    /// The UUID of the descriptor; nil if the attribute is a characteristic.
    public var descriptor: BluetoothUUID?
    /// The bytes and the offset of a write; nil for a read.
    var written: WritePart?

    /// The bytes of a write; nil for a read.
    public var writtenValue: Data? {
        switch kind {
        case .read: nil
        case .write(let value), .writeCommand(let value): value
        }
    }
}

/// A device's answer to a request.
public enum PeripheralResponse: Hashable, Sendable {
    /// The server answers with the stored value, or stores the written one.
    case stored
    /// The value of a read, 0...512 bytes.
    case value(Data)
    /// The write is accepted, but nothing is stored.
    case accepted
    /// The request is refused.
    case error(ATTCode)
    /// The request is refused, and the app receives this error; on the air, the code is 0x0E.
    case failure(OpaqueError)
    /// The request is never answered; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}

/// An event that a device's handler receives.
public enum DeviceEvent: Hashable, Sendable {
    /// A central connected.
    case connected(CentralIdentity)
    /// A central disconnected.
    case disconnected(CentralIdentity)
    /// A central subscribed to a characteristic.
    case subscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A central unsubscribed from a characteristic; a disconnection does not cause this event.
    case unsubscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A timer of the device fired.
    case timer(Int)
    /// A test, a tool or a world file set a parameter: ``EmulatedDevice/set(_:to:)``.
    case parameterChanged(DeviceParameter, Double)
    /// A central opened an L2CAP channel.
    case channelOpened(CentralIdentity, ChannelID, psm: UInt16)
    /// Bytes arrived on an L2CAP channel.
    case channelReceived(ChannelID, Data)
    /// An L2CAP channel ended, because the central closed it or its link ended.
    case channelClosed(ChannelID)
}

/// A procedure of a central other than reading and writing, which a device may refuse.
public struct PeripheralProcedure: Hashable, Sendable {
    /// The kinds of procedures.
    public enum Kind: Hashable, Sendable {
        /// Discovers services.
        case discoverServices
        /// Discovers the services that a service includes.
        case discoverIncludedServices
        /// Discovers the characteristics of a service.
        case discoverCharacteristics
        /// Discovers the descriptors of a characteristic.
        case discoverDescriptors
        /// Writes the Client Characteristic Configuration of a characteristic, to subscribe to its value.
        case subscribe
        /// Writes the Client Characteristic Configuration of a characteristic, to unsubscribe from its value.
        case unsubscribe
    }

    /// The central that performs the procedure.
    public var central: CentralIdentity
    /// The kind of the procedure.
    public var kind: Kind
    /// The UUIDs that the central's app discovers; nil for all.
    ///
    /// On the air, a host discovers everything and filters.
    public var types: [BluetoothUUID]?
    /// The service or characteristic that the procedure concerns; nil for ``Kind/discoverServices``.
    public var attribute: AttributeID?
    /// The UUID of that attribute.
    public var uuid: BluetoothUUID?
    /// The position of that attribute in the device; nil in the services 1800 and 1801.
    public var position: AttributePosition?
}

/// A device's answer to a procedure.
public enum ProcedureResponse: Hashable, Sendable {
    /// The server performs the procedure.
    case granted
    /// The procedure is refused.
    case error(ATTCode)
    /// The procedure is refused, and the app receives this error; on the air, the code is 0x0E.
    case failure(OpaqueError)
    /// The procedure is never answered; after 30 s the central drops the link (Core Specification, Vol 3, Part F,
    /// 3.3.3).
    case unanswered
}
