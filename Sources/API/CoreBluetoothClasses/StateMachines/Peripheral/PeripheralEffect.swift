import BluetoothBackend

enum PeripheralEffect: Equatable, Sendable {
    /// Goes to the backend.
    case submit(PeripheralCommand)
    /// Goes to the log.
    case misuse(PeripheralMisuse)
    /// Returns on the manager's queue, after the present items.
    case complete(PeripheralCompletion)
    /// The app may change the service's objects again.
    case thaw(AttributeID)
    /// Releases the service's objects.
    case forget(AttributeID)
    /// Removes all subscribers of the characteristic.
    case clearSubscribers(AttributeID)
    /// These calls of `add` get no answer.
    case dropAdditions([OperationID])
    /// The ATT MTU with a central, in bytes.
    case changeMTU(PeerID, Int)
    /// Closes a channel that the app does not get.
    case closeChannel(ChannelID)
    /// Withdraws the number and closes its channels.
    case closeChannels(psm: UInt16)
    /// Goes to the delegate.
    case callback(PeripheralCallback)
}

/// An input that returns to the machine without the backend.
enum PeripheralCompletion: Equatable, Sendable {
    /// The operation was refused by a rule.
    case refused(OperationID, BackendError)
    /// The services were taken out of the database.
    case withdrawn([AttributeID])
    /// The app withdraws a PSM that it does not have.
    case unknownPSM(UInt16)
}

enum PeripheralCallback: Equatable, Sendable {
    case willRestore(RestoredPeripheralState)
    case stateUpdated
    case advertisingStarted(BackendError?)
    case added(OperationID, BackendError?)
    case subscribed(PeerID, AttributeID, mtu: Int)
    case unsubscribed(PeerID, AttributeID)
    case readReceived(RequestID, PeerID, AttributeID, offset: Int, mtu: Int)
    case writeReceived(RequestID, PeerID, [WritePart], mtu: Int)
    case readyToUpdate
    case channelPublished(psm: UInt16, BackendError?)
    case channelUnpublished(psm: UInt16, BackendError?)
    case channelOpened(ChannelID, psm: UInt16, PeerID)
}

/// A call that is ignored, or a message for the app's developer.
enum PeripheralMisuse: Equatable, Sendable {
    case notPoweredOn
    case noRestoreIdentifier
    case refusedService(BluetoothUUID, reason: String)
    case includedByAnother(BluetoothUUID, includer: BluetoothUUID)
    case notPublished(BluetoothUUID)
    case foreignRequest
    case notWaiting(RequestID)
    case notTheFirst(RequestID)
    case nobodyAnswers(RequestID)
    case advertisingEnded
    case advertisingNotResumed(BackendError)
}
