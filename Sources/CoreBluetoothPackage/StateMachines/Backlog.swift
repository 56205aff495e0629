import BluetoothBackend
import DequeModule

/// What may become of an element of a ``Backlog`` while nobody takes it.
enum BacklogKind: Equatable, Sendable {
    /// It stays, whatever comes.
    case kept
    /// A report of a scan: a newer one of the same peer takes its place.
    case report(of: PeerID)
    /// One of many values, which a source may lose.
    case value(from: ValueSource)
}

/// Where values come from that may be lost.
enum ValueSource: Hashable, Sendable {
    /// Notifications of a link.
    case link(LinkID)
    /// Write commands of a central.
    case central(PeerID)
}

/// What a ``Backlog`` consists of.
protocol BacklogElement: Sendable {
    /// What may become of it.
    var backlogKind: BacklogKind { get }

    /// A link after whose end no values of it come any more; nil for most elements.
    var endedLink: LinkID? { get }

    /// What has a link ended, in place of its values; nil where there is no such element.
    static func end(_ link: LinkID) -> Self?
}

extension BacklogElement {
    var backlogKind: BacklogKind { .kept }
    var endedLink: LinkID? { nil }
    static func end(_ link: LinkID) -> Self? { nil }
}

/// What waits for a manager's queue, in order.
///
/// Pure. Scan reports, and values that a peer sends unasked, are limited in number. Everything else follows from what the
/// app asked for, and is kept.
///
/// To append and to take takes constant time. At the limit all is looked through once, and so much room is made that this
/// stays rare.
struct Backlog<Element: BacklogElement>: Sendable {
    private var elements = Deque<Element>()
    private let limits: CBManagerLimits
    private var reports = 0
    private var values = 0
    /// Links that are being ended, as their values were too many.
    private var endingLinks: Set<LinkID> = []
    private var isOverflowing = false
    /// What was lost so far.
    private(set) var dropped = CBDroppedEvents()

    /// An empty backlog.
    init(limits: CBManagerLimits) { self.limits = limits }

    /// Whether nothing waits.
    var isEmpty: Bool { elements.isEmpty }

    /// How many elements wait.
    var count: Int { elements.count }

    private var limit: Int { max(1, limits.undeliveredEvents) }

    // MARK: Use

    /// Appends an element.
    ///
    /// - Returns: Whether something was lost for it, for the first time since all was well.
    mutating func append(_ element: Element) -> Bool {
        switch element.backlogKind {
        case .kept:
            elements.append(element)
            noteEnd(element)
            return false
        case .report:
            elements.append(element)
            reports += 1
            guard reports > limit else { return false }
            mergeReports()
        case .value(let source):
            if !endingLinks.isEmpty, isEnding(source) {
                drop(source)
                return false
            }
            elements.append(element)
            values += 1
            guard values > limit else { return false }
            dropValues()
        }
        defer { isOverflowing = true }
        return !isOverflowing
    }

    /// Takes the first element.
    mutating func popFirst() -> Element? {
        guard let element = elements.popFirst() else { return nil }
        switch element.backlogKind {
        case .kept: break
        case .report: reports -= 1
        case .value: values -= 1
        }
        if isOverflowing, max(reports, values) <= limit / 2 { isOverflowing = false }
        return element
    }

    /// Removes elements.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements.removeAll(where: isUnwanted)
        recount()
    }

    private mutating func recount() {
        (reports, values) = (0, 0)
        for element in elements {
            switch element.backlogKind {
            case .kept: break
            case .report: reports += 1
            case .value: values += 1
            }
        }
    }

    private mutating func noteEnd(_ element: Element) {
        if !endingLinks.isEmpty, let link = element.endedLink { endingLinks.remove(link) }
    }

    // MARK: Room

    /// So many elements are removed beyond the limit, so that it is not reached again at once.
    private var slack: Int { limit / 8 }

    /// Leaves the newest report of each peer, in the place of its first; the oldest go if that is not enough.
    private mutating func mergeReports() {
        var places: [PeerID: Int] = [:]
        var merged = Deque<Element>()
        for element in elements {
            if case .report(let peer) = element.backlogKind {
                if let place = places[peer] {
                    merged[place] = element
                    continue
                }
                places[peer] = merged.count
            }
            merged.append(element)
        }
        dropped.mergedScanReports += elements.count - merged.count
        elements = merged
        reports = places.count
        guard reports > limit - slack else { return }
        dropped.scanReports += dropFirst(reports - (limit - slack)) { if case .report = $0 { true } else { false } }
    }

    /// The source with the most values loses its oldest, or its link.
    private mutating func dropValues() {
        var counts: [ValueSource: Int] = [:]
        var longest: (source: ValueSource, count: Int)?
        for case .value(let source) in elements.lazy.map(\.backlogKind) {
            let count = counts[source, default: 0] + 1
            counts[source] = count
            if count > longest?.count ?? 0 { longest = (source, count) }
        }
        guard let (source, count) = longest else { return }
        var excess = max(1, min(slack, count / 8))
        if limits.notificationOverflow == .disconnect, case .link(let link) = source, let end = Element.end(link) {
            endingLinks.insert(link)
            if let first = elements.firstIndex(where: { $0.backlogKind == .value(from: source) }) {
                elements[first] = end
            }
            drop(source)
            excess = count - 1
        }
        drop(source, dropFirst(excess) { $0 == .value(from: source) })
    }

    private mutating func dropFirst(_ count: Int, where isMeant: (BacklogKind) -> Bool) -> Int {
        var left = count
        elements.removeAll { element in
            guard left > 0, isMeant(element.backlogKind) else { return false }
            left -= 1
            return true
        }
        recount()
        return count - left
    }

    private mutating func drop(_ source: ValueSource, _ count: Int = 1) {
        switch source {
        case .link: dropped.notifications += count
        case .central: dropped.writeCommands += count
        }
    }

    private func isEnding(_ source: ValueSource) -> Bool {
        if case .link(let link) = source { endingLinks.contains(link) } else { false }
    }
}
