/// How many elements a sequence keeps for a consumer that is late, and what happens to those beyond.
///
/// The first element that is lost is logged at level `warning`, with the device and the attribute;
/// ``ValueSequence/Iterator/droppedCount`` and ``EventSequence/Iterator/droppedCount`` count all of them.
public struct BufferingPolicy: Hashable, Sendable {
    enum Overflow: Hashable, Sendable {
        case dropOldest, dropNewest, fail
    }

    let overflow: Overflow
    let limit: Int

    private init(_ overflow: Overflow, _ limit: Int) {
        self.overflow = overflow
        self.limit = max(1, limit)
    }

    /// Keeps the newest elements: the oldest one is dropped for each that comes beyond `limit`, at least 1.
    public static func newest(_ limit: Int) -> BufferingPolicy { BufferingPolicy(.dropOldest, limit) }

    /// Keeps the oldest elements: what comes beyond `limit`, at least 1, is dropped.
    public static func oldest(_ limit: Int) -> BufferingPolicy { BufferingPolicy(.dropNewest, limit) }

    /// Loses nothing silently: the first element beyond `limit`, at least 1, ends the sequence.
    ///
    /// A ``ValueSequence`` throws ``BluetoothError/Reason/bufferOverflow(limit:)`` behind the elements that it kept; an
    /// ``EventSequence`` ends.
    public static func failing(beyond limit: Int) -> BufferingPolicy { BufferingPolicy(.fail, limit) }

    /// Keeps everything, however much memory that takes: for devices that the app trusts.
    public static let unbounded = BufferingPolicy(.dropOldest, .max)

    /// The newest 1,024 elements: for values of 20 bytes, some 64 kilobytes.
    public static let standard = BufferingPolicy.newest(1_024)
}
