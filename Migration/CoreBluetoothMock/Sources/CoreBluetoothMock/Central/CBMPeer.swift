import Foundation

/// A remote device.
///
/// Thread rule: all members may be used from any thread.
open class CBMPeer: NSObject {
    /// The device's identifier on this host.
    public let identifier: UUID

    init(identifier: UUID) {
        self.identifier = identifier
        super.init()
    }
}
