/// Reference Time Information (2A14): where the time comes from, and how good it is.
///
/// Source: Current Time Service 1.1, 3.3; GATT Specification Supplement, Reference Time Information.
public struct ReferenceTimeInformation: GATTValue, CustomStringConvertible {
    /// Time Source (2A13).
    public enum Source: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
        /// Not known.
        case unknown = 0
        /// The Network Time Protocol.
        case networkTimeProtocol
        /// A satellite system.
        case satellite
        /// A radio time signal.
        case radioTimeSignal
        /// Somebody set it.
        case manual
        /// An atomic clock.
        case atomicClock
        /// A cellular network.
        case cellularNetwork
        /// The clock is not synchronized.
        case notSynchronized

        /// In words.
        public var description: String {
            switch self {
            case .unknown: "unknown source"
            case .networkTimeProtocol: "Network Time Protocol"
            case .satellite: "satellite"
            case .radioTimeSignal: "radio time signal"
            case .manual: "manual"
            case .atomicClock: "atomic clock"
            case .cellularNetwork: "cellular network"
            case .notSynchronized: "not synchronized"
            }
        }
    }

    /// Where the time comes from.
    public let source: Source
    /// The drift since the last update, in steps of 1/8 s; 254 is more than 253 steps, 255 is not known.
    public let accuracy: UInt8
    /// Whole days since the last update; 255 is 255 or more.
    public let daysSinceUpdate: UInt8
    /// Hours since the last update beyond the days, 0...23; 255 where the days are 255.
    public let hoursSinceUpdate: UInt8

    /// A source that was asked some time ago.
    ///
    /// `hoursSinceUpdate`: In all, 0 or more.
    /// - Throws: That the hours are negative.
    public init(source: Source, accuracy: UInt8 = 255, hoursSinceUpdate: Int) throws(GATTValueError) {
        let hours = try Self.checked(hoursSinceUpdate, "Hours Since Update", in: 0...Int.max)
        self.init(source, accuracy: accuracy, wholeHours: hours)
    }

    /// A source that was asked some time ago, 0 or more.
    init(source: Source, sinceUpdate: Duration) {
        self.init(source, accuracy: 255, wholeHours: max(0, Int(sinceUpdate.components.seconds / 3600)))
    }

    private init(_ source: Source, accuracy: UInt8, wholeHours hoursSinceUpdate: Int) {
        self.source = source
        self.accuracy = accuracy
        let isLong = hoursSinceUpdate >= 255 * 24
        daysSinceUpdate = isLong ? 255 : UInt8(hoursSinceUpdate / 24)
        self.hoursSinceUpdate = isLong ? 255 : UInt8(hoursSinceUpdate % 24)
    }

    /// Reads four bytes.
    ///
    /// - Throws: Also that the hours are none of 0...23 and 255.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let raw = try reader.uint8("Time Source")
        guard let source = Source(rawValue: raw) else { throw reader.reserved(raw, "Time Source") }
        self.source = source
        accuracy = try reader.uint8("Time Accuracy")
        daysSinceUpdate = try reader.uint8("Days Since Update")
        hoursSinceUpdate = try reader.uint8("Hours Since Update")
        guard hoursSinceUpdate < 24 || hoursSinceUpdate == 255 else {
            throw reader.reserved(hoursSinceUpdate, "Hours Since Update")
        }
    }

    /// Writes four bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(source)
        for part in [accuracy, daysSinceUpdate, hoursSinceUpdate] { writer.append(part, bytes: 1) }
    }

    /// `Network Time Protocol, updated 1 d 2 h ago`.
    public var description: String {
        daysSinceUpdate == 255
            ? "\(source), updated long ago" : "\(source), updated \(daysSinceUpdate) d \(hoursSinceUpdate) h ago"
    }
}
