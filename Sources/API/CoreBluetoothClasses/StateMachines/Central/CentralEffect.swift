import BluetoothBackend
import FoundationEssentials

enum CentralEffect: Equatable, Sendable {
    /// Goes to the backend.
    case submit(CentralCommand)
    /// Goes to the log.
    case misuse(CentralMisuse)
    /// Returns on the manager's queue, after the present items.
    case complete(CentralCompletion)
    /// Returns on the manager's queue, later.
    case schedule(CentralCompletion, after: Duration)
    /// The peripheral's services are invalid.
    case invalidateAttributes(PeerID)
    /// The object is invalid; its identifier gets a new one.
    case invalidatePeripheral(PeerID)
    /// All objects are invalid (S15).
    case invalidatePeripherals
    /// Closes a channel that no request waits for.
    case closeChannel(ChannelID)
    /// Goes to a delegate.
    case callback(CentralCallback)
}

/// An input that returns to the machine without the backend.
enum CentralCompletion: Equatable, Sendable {
    case connectedAgain(PeerHandle)
    case connectCancelled(PeerHandle)
    case startDelayOver(PeerHandle, OperationID, ConnectOptions)
    case response(PeerHandle, LinkID, LinkRequest, LinkResponse)
}

/// A callback of a delegate.
///
/// Rare and large contents are indirect: a callback is copied several times on its way.
enum CentralCallback: Equatable, Sendable {
    indirect case willRestore(RestoredCentralState)
    case stateUpdated
    indirect case discovered(Discovery)
    case connected(PeerID)
    indirect case connectFailed(PeerID, BackendError)
    indirect case disconnected(PeerID, at: Date?, isReconnecting: Bool, error: BackendError?)
    case connectionEvent(PeerID, isConnected: Bool)
    case ancsAuthorizationUpdated(PeerID)
    case nameUpdated(PeerID, String?)
    case servicesModified(PeerID, removed: [AttributeID])
    case readyToWrite(PeerID)
    case notified(PeerID, AttributeID, Data)
    indirect case subscriptionEnded(PeerID, AttributeID, BackendError)
    case response(PeerID, LinkID, LinkRequest, LinkResponse)
}

/// A call that Apple logs and ignores.
enum CentralMisuse: Equatable, Sendable {
    case notPoweredOn
    case noRestoreIdentifier
    case notConnected(PeerID)
    case stalePeripheral(PeerID)
    case foreignPeripheral(PeerID)
    case staleAttribute(AttributeID)
    case unusedWhileConnecting(PeerID)
    case unusedWhileConnected(PeerID)
    case writeWithoutResponseNotSupported(AttributeID)
    case writeCommandTooLong(AttributeID, length: Int, maximum: Int)
    case transmitQueueFull(AttributeID)
    case localAttribute(String)
    case delegateIsNil(String, String)
}
