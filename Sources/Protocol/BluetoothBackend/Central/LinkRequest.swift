public import BluetoothSupport

/// An operation on a link that the backend answers with one ``LinkResponse``.
///
/// The facade, the backends, the fault plans and the traces share this type. Each case names the public call behind it.
public enum LinkRequest: Hashable, Sendable, Codable {
    /// Reads the link's signal strength: `rssi`. `CBPeripheral.readRSSI`.
    case readRSSI
    /// Discovers services by UUID, or all if nil: `services`. `CBPeripheral.discoverServices`.
    case discoverServices([BluetoothUUID]?)
    /// Discovers included services by UUID, or all if nil: `services`. `CBPeripheral.discoverIncludedServices`.
    case discoverIncludedServices(of: AttributeID, [BluetoothUUID]?)
    /// Discovers characteristics by UUID, or all if nil: `characteristics`. `CBPeripheral.discoverCharacteristics`.
    case discoverCharacteristics(of: AttributeID, [BluetoothUUID]?)
    /// Discovers all descriptors: `descriptors`. `CBPeripheral.discoverDescriptors`.
    case discoverDescriptors(of: AttributeID)
    /// Reads the whole value of a characteristic or a descriptor, up to 512 bytes: `value`. `CBPeripheral.readValue`.
    case read(AttributeID)
    /// Writes a value of up to 512 bytes with response: `written`. `CBPeripheral.writeValue`.
    ///
    /// From an offset on, in bytes, it is written with Prepare Write and Execute Write, whatever its length; the bytes before
    /// the offset and behind the end stay. CoreBluetooth has no call for that; BlueZ has an option of `WriteValue`.
    case write(AttributeID, Data, offset: UInt16 = 0)
    /// Subscribes (to notifications rather than indications) or unsubscribes: `notifying`.
    /// `CBPeripheral.setNotifyValue`.
    case setNotifying(AttributeID, Bool)
    /// Opens an L2CAP channel: `channel`. `CBPeripheral.openL2CAPChannel`.
    case openChannel(psm: UInt16)

    /// The attribute that the request names; nil if it concerns the link as a whole.
    package var attribute: AttributeID? {
        switch self {
        case .readRSSI, .discoverServices, .openChannel: nil
        case .discoverIncludedServices(let id, _), .discoverCharacteristics(let id, _), .discoverDescriptors(let id),
            .read(let id), .write(let id, _, _), .setNotifying(let id, _):
            id
        }
    }

    /// Whether the request discovers services, characteristics or descriptors.
    package var isDiscovery: Bool {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: true
        case .readRSSI, .read, .write, .setNotifying, .openChannel: false
        }
    }
}

/// The answer to a ``LinkRequest``.
public enum LinkResponse: Hashable, Sendable, Codable {
    /// The signal strength in dBm. `peripheral(_:didReadRSSI:error:)`.
    case rssi(Int)
    /// Services in handle order. `peripheral(_:didDiscoverServices:)`,
    /// `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    case services([ServiceRecord])
    /// Characteristics in handle order. `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    case characteristics([CharacteristicRecord])
    /// Descriptors in handle order. `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    case descriptors([DescriptorRecord])
    /// The value that was read. `peripheral(_:didUpdateValueFor:error:)`.
    case value(Data)
    /// The peer accepted the value. `peripheral(_:didWriteValueFor:error:)`.
    case written
    /// The state of the subscription. `peripheral(_:didUpdateNotificationStateFor:error:)`.
    case notifying(Bool)
    /// An open channel, and the number of bytes that may be sent initially. `peripheral(_:didOpen:error:)`.
    case channel(ChannelID, credits: Int)
    /// The request failed; the delegate method of the request receives the error.
    indirect case failure(BackendError)
}

/// A command for an L2CAP channel, in either role.
public enum ChannelCommand: Hashable, Sendable, Codable {
    /// Sends bytes, for as many credits. The output stream of `CBL2CAPChannel`.
    case send(Data)
    /// Reports that the app took this many received bytes from the buffer. The input stream of `CBL2CAPChannel`.
    case consumed(Int)
    /// Closes the channel. The streams of `CBL2CAPChannel`, or its release.
    case close
}

/// An event of an L2CAP channel, in either role.
///
/// Received bytes and credits go to the stream's buffer directly, not through the manager's queue.
public enum ChannelEvent: Hashable, Sendable, Codable {
    /// Received bytes.
    case received(Data)
    /// This many more bytes may be sent.
    case credits(Int)
    /// The other side closed the channel. `disconnected` ends the channels of its link without this event.
    case closed
}
