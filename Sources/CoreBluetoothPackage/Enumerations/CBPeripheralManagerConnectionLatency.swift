/// Which connection interval the peripheral role asks for.
///
/// Source: Apple, CBPeripheralManagerConnectionLatency.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    /// Quick exchanges over battery life.
    case low = 0
    /// A balance of both.
    case medium = 1
    /// Battery life over quick exchanges.
    case high = 2
}
