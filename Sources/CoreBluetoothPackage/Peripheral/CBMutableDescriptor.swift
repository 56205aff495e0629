import Foundation

/// A descriptor of the local GATT database: a user description (2901, `String`) or a presentation format (2904, `Data`).
///
/// The system makes those of 2900 and 2902 by itself. Immutable. Source: Apple, CBMutableDescriptor.
open class CBMutableDescriptor: CBDescriptor {
    private let ownValue: Any?

    /// Makes a descriptor that belongs to no characteristic yet.
    ///
    /// - Parameters:
    ///   - UUID: The descriptor's type.
    ///   - value: Its value; what is allowed is checked when its service is added to a manager.
    public init(type UUID: CBUUID, value: Any?) {
        ownValue = value
        super.init(uuid: UUID)
    }

    /// The value as it was given.
    open override var value: Any? { ownValue }
}
