public import Foundation

/// A service, a characteristic or a descriptor.
///
/// Source: Apple, CBAttribute.
open class CBAttribute: NSObject {
    /// The attribute's type.
    public let uuid: CBUUID
    /// The attribute on its link; nil for one of the app's own.
    let reference: AttributeReference?

    init(uuid: CBUUID, reference: AttributeReference? = nil) {
        self.uuid = uuid
        self.reference = reference
        super.init()
    }
}
