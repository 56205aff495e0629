/// The protocol/service multiplexer of an L2CAP channel: 0x80 to 0xFF where the system chooses it.
///
/// Sources: Apple, CBL2CAPPSM; Core Specification, Vol 3, Part A, 4.22.
public typealias CBL2CAPPSM = UInt16
