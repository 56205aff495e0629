/// Valid Range (2906): the least and the greatest value that a characteristic takes.
///
/// Source: GATT Specification Supplement, Valid Range.
public struct ValidRange<Bound: GATTValue>: GATTValue, CustomStringConvertible {
    /// The least value.
    public var lower: Bound
    /// The greatest value.
    public var upper: Bound

    /// A range, both ends included.
    public init(lower: Bound, upper: Bound) {
        self.lower = lower
        self.upper = upper
    }

    /// Reads both ends.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        lower = try Bound(from: &reader)
        upper = try Bound(from: &reader)
    }

    /// Writes both ends.
    public func write(to writer: inout GATTWriter) {
        writer.append(lower)
        writer.append(upper)
    }

    /// `1 s to 3600 s`.
    public var description: String { "\(lower) to \(upper)" }
}
