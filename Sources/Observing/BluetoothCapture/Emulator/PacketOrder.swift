/// The unwritten records of a capture, in the order of their times.
///
/// The packets of a procedure are known with its response, so later records wait for it, but at most a second.
struct PacketOrder {
    private static let longestWait = Duration.seconds(1)

    private var waiting: [(time: Duration, record: CaptureRecord)] = []
    /// The times of the requests whose packets are still unknown, by link.
    private var open: [UInt32: Duration] = [:]

    /// Announces packets of a link from a time on.
    mutating func open(_ link: UInt32, since time: Duration) { open[link] = time }

    mutating func close(_ link: UInt32) { open[link] = nil }

    mutating func append(_ record: CaptureRecord, at time: Duration) { waiting.append((time, record)) }

    /// Removes the records that nothing can precede.
    ///
    /// - Parameter now: The present time; nil removes all records.
    mutating func removeReady(at now: Duration?) -> [CaptureRecord] {
        guard !waiting.isEmpty else { return [] }
        guard let now else { return exchange(&waiting, with: []).sorted { $0.time < $1.time }.map(\.record) }
        let limit = max(min(now, open.values.min() ?? now), now - Self.longestWait)
        if waiting.count == 1 {
            guard waiting[0].time <= limit else { return [] }
            return [waiting.removeLast().record]
        }
        // Swift's sort is stable.
        waiting.sort { $0.time < $1.time }
        let count = waiting.firstIndex { $0.time > limit } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return waiting[..<count].map(\.record)
    }
}
