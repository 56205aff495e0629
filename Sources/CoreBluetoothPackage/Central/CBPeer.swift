public import Foundation

/// A remote device.
///
/// Source: Apple, CBPeer.
open class CBPeer: NSObject, NSCopying {
    /// The device's identifier on this host; not its address.
    public let identifier: UUID

    init(identifier: UUID) {
        self.identifier = identifier
        super.init()
    }

    /// The ATT MTU of the link in bytes; 23 while there is none.
    var mtuLength: Int { 23 }

    /// The object itself: peers are identities.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
