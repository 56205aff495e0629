import CoreBluetooth

/// A service, a characteristic or a descriptor.
///
/// Thread rule: all members may be used from any thread.
open class CBMAttribute: NSObject,
    // Invariant: mutable state is accessed under a lock.
    @unchecked Sendable
{
    /// The identifier that distinguishes attributes with equal UUIDs: a mock's attribute has that of the server's
    /// object.
    let identifier: UUID
    /// The attribute's type.
    public let uuid: CBMUUID

    init(uuid: CBMUUID, identifier: UUID = UUID()) {
        self.uuid = uuid
        self.identifier = identifier
        super.init()
    }
}
