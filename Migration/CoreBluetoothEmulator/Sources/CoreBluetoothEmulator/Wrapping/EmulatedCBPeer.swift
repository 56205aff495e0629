public import Foundation

/// The other side of an L2CAP channel: an ``EmulatedCBPeripheral`` for the central, an ``EmulatedCBCentral`` for the
/// peripheral manager.
public protocol EmulatedCBPeer: AnyObject {
    /// The identifier of its manager.
    var identifier: UUID { get }
}
