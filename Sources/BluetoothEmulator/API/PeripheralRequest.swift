public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// The central that asks, as the device knows it.
public struct CentralIdentity: Hashable, Sendable {
    /// The name of its host.
    public var host: String
    /// Its address.
    public var address: DeviceAddress
    /// The ATT MTU of its link, in bytes.
    public var mtu: Int
}

/// A central that connects to a device.
public struct ConnectionRequest: Hashable, Sendable {
    /// The central; its MTU is the smallest one until the link is up.
    public var central: CentralIdentity
}

/// A device's answer to a central that connects.
public enum ConnectionResponse: Hashable, Sendable {
    /// The link comes up.
    case accepted
    /// There is no link: `CBError.connectionFailed`.
    case refused
    /// There is no link, and the app gets this error.
    case failure(OpaqueError)
}

/// A read or a write that a central asks for.
public struct PeripheralRequest: Hashable, Sendable {
    /// What is asked.
    public enum Kind: Hashable, Sendable {
        /// The whole value; the link cuts it to size.
        case read
        /// Stores a value and answers.
        case write(Data)
        /// Stores a value without an answer.
        case writeCommand(Data)
    }

    /// The central that asks.
    public var central: CentralIdentity
    /// What is asked.
    public var kind: Kind
    /// The attribute.
    public var attribute: AttributeID
    /// Its place in the device; nil in the services 1800 and 1801.
    public var position: AttributePosition?
    /// The type of its service.
    public var service: BluetoothUUID
    /// The type of its characteristic.
    public var characteristic: BluetoothUUID
    /// The type of the descriptor, if it is one.
    public var descriptor: BluetoothUUID?

    /// The bytes of a write, nil for a read.
    public var writtenValue: Data? {
        switch kind {
        case .read: nil
        case .write(let value), .writeCommand(let value): value
        }
    }
}

/// A device's answer to a request.
public enum PeripheralResponse: Hashable, Sendable {
    /// The server does it with the stored value.
    case stored
    /// The value of a read, 0...512 bytes.
    case value(Data)
    /// The write is accepted; nothing is stored.
    case accepted
    /// The request is refused.
    case error(ATTCode)
    /// The request is refused, and the app gets this error; on the air it is 0x0E.
    case failure(OpaqueError)
    /// There is no answer, ever; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}

/// An event of a device.
public enum DeviceEvent: Hashable, Sendable {
    /// A central connected.
    case connected(CentralIdentity)
    /// A central disconnected.
    case disconnected(CentralIdentity)
    /// A central subscribed to a characteristic.
    case subscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A central unsubscribed from a characteristic; a disconnection brings no such event.
    case unsubscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A timer of the device's is due.
    case timer(Int)
    /// A test, a tool or a world file set a parameter: ``EmulatedDevice/set(_:to:)``.
    case parameterChanged(DeviceParameter, Double)
    /// A central opened an L2CAP channel.
    case channelOpened(CentralIdentity, ChannelID, psm: UInt16)
    /// Bytes arrived on an L2CAP channel.
    case channelReceived(ChannelID, Data)
    /// An L2CAP channel is over, by the central or with its link.
    case channelClosed(ChannelID)
}

/// A procedure of a central besides reading and writing, which a device may refuse.
public struct PeripheralProcedure: Hashable, Sendable {
    /// The kinds of procedures.
    public enum Kind: Hashable, Sendable {
        /// Looks for services.
        case discoverServices
        /// Looks for the services that a service includes.
        case discoverIncludedServices
        /// Looks for the characteristics of a service.
        case discoverCharacteristics
        /// Looks for the descriptors of a characteristic.
        case discoverDescriptors
        /// Writes the Client Characteristic Configuration of a characteristic, to subscribe to its value.
        case subscribe
        /// Writes the Client Characteristic Configuration of a characteristic, to hear no more.
        case unsubscribe
    }

    /// The central that asks.
    public var central: CentralIdentity
    /// The kind of the procedure.
    public var kind: Kind
    /// The types that its app looks for, in a discovery; nil for all.
    ///
    /// On the air a host asks for all and filters.
    public var types: [BluetoothUUID]?
    /// The service or the characteristic that it is about; nil for ``Kind/discoverServices``.
    public var attribute: AttributeID?
    /// The type of that.
    public var uuid: BluetoothUUID?
    /// The place of that in the device; nil for the services 1800 and 1801.
    public var position: AttributePosition?
}

/// A device's answer to a procedure.
public enum ProcedureResponse: Hashable, Sendable {
    /// The server does it.
    case granted
    /// The procedure is refused.
    case error(ATTCode)
    /// The procedure is refused, and the app gets this error; on the air it is 0x0E.
    case failure(OpaqueError)
    /// There is no answer, ever; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}
