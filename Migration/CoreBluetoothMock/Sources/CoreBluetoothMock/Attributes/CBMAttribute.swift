import CoreBluetooth

/// A service, a characteristic or a descriptor.
///
/// Thread rule: all members may be used from any thread.
open class CBMAttribute: NSObject,
    // Invariant: what changes is reached under a lock.
    @unchecked Sendable
{
    /// Distinguishes attributes of equal UUIDs: the one of a mock's attribute is that of the server's object.
    let identifier: UUID
    /// The attribute's type.
    public let uuid: CBMUUID

    init(uuid: CBMUUID, identifier: UUID = UUID()) {
        self.uuid = uuid
        self.identifier = identifier
        super.init()
    }
}
