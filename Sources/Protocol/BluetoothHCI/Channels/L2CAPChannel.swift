/// The fixed channels of a link.
///
/// Source: Core Specification, Vol 3, Part A, 2.1.
package enum L2CAPChannel {
    package static let att: UInt16 = 0x0004
    package static let signaling: UInt16 = 0x0005
    package static let securityManager: UInt16 = 0x0006
}
