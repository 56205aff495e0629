import CoreBluetoothPackage

/// Something that is awaited of the radio; one at a time.
enum Step: Equatable {
    case state
    case discovery
    /// The end of a scan or of a subscription, which the user or a count brings.
    case end
    case connection
    case disconnection
    case services
    case includedServices(ObjectIdentifier)
    case characteristics(ObjectIdentifier)
    case descriptors(ObjectIdentifier)
    case value(ObjectIdentifier)
    case descriptorValue(ObjectIdentifier)
    case descriptorWritten(ObjectIdentifier)
    case written(ObjectIdentifier)
    case notificationState(ObjectIdentifier)
    case readyToWrite
    case rssi
    case pairing
    case unpairing
    case publication(ObjectIdentifier)
    case advertising
    case channel
    case channelOpen
    case channelSpace

    /// For "timed out after 15 s …".
    var phrase: String {
        switch self {
        case .state: "waiting for the radio"
        case .discovery: "looking for the device"
        case .end: "waiting for a value"
        case .connection: "connecting"
        case .disconnection: "disconnecting"
        case .services, .includedServices: "discovering services"
        case .characteristics: "discovering characteristics"
        case .descriptors: "discovering descriptors"
        case .value, .descriptorValue: "reading"
        case .written, .descriptorWritten: "writing"
        case .notificationState: "changing the subscription"
        case .readyToWrite: "waiting for room to write"
        case .rssi: "waiting for the link"
        case .pairing: "pairing"
        case .unpairing: "removing the bond"
        case .publication: "publishing a service"
        case .advertising: "starting to advertise"
        case .channel: "listening for channels"
        case .channelOpen: "opening the channel"
        case .channelSpace: "waiting for room in the channel"
        }
    }
}
