import BluetoothBackend

/// The delayed items, in lines: an item that follows a delayed one in its line waits behind it.
///
/// Pure.
struct DelayQueue<Item: Sendable>: Sendable {
    private var lines: [HoldLine: [(item: Item, due: Duration)]] = [:]

    private(set) var count = 0

    /// Admits an item.
    ///
    /// - Returns: Whether it passes or waits.
    mutating func admit(_ item: Item, in line: HoldLine, delay: Duration?, now: Duration) -> Admission {
        let isFirst = lines[line] == nil
        if isFirst, delay == nil { return .passes }
        lines[line, default: []].append((item, now + (delay ?? .zero)))
        count += 1
        return isFirst ? .heads(wait: delay ?? .zero) : .follows
    }

    enum Admission: Hashable {
        /// The item is not delayed.
        case passes
        /// The item is the first of its line, which must be checked after this time.
        case heads(wait: Duration)
        /// The item waits behind others.
        case follows
    }

    /// Removes the next item of a line, if it is due.
    mutating func next(in line: HoldLine, now: Duration) -> Item? {
        guard let first = lines[line]?.first, first.due <= now else { return nil }
        lines[line]?.removeFirst()
        if lines[line]?.isEmpty == true { lines[line] = nil }
        count -= 1
        return first.item
    }

    /// The time until the head of a line is due; nil if the line is empty.
    func wait(in line: HoldLine, now: Duration) -> Duration? {
        lines[line]?.first.map { max(.zero, $0.due - now) }
    }

    mutating func drop(_ line: HoldLine) {
        count -= lines.removeValue(forKey: line)?.count ?? 0
    }

    mutating func dropAll() {
        lines = [:]
        count = 0
    }
}
