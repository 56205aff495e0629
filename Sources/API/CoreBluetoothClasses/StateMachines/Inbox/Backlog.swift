import BluetoothBackend
import DequeModule

/// The ways in which an element of a ``Backlog`` may change while it waits.
enum BacklogKind: Equatable, Sendable {
    /// It is never removed.
    case kept
    /// A report of a scan: a newer one of the same peer takes its place.
    case report(of: PeerID)
    /// One of many values, which a source may lose.
    case value(from: ValueSource)
    /// A change that others can make again and again, and that later changes may make void.
    case change(mayBeLost: Bool)
}

/// The source of values that may be lost.
enum ValueSource: Hashable, Sendable {
    /// Notifications of a link.
    case link(LinkID)
    /// Write commands of a central.
    case central(PeerID)
}

/// An element of a ``Backlog``.
protocol BacklogElement: Sendable {
    var backlogKind: BacklogKind { get }

    /// A link whose values end with this element; nil for most elements.
    var endedLink: LinkID? { get }

    /// The element that ends a link, in place of its values; nil if such an element does not exist.
    static func end(_ link: LinkID) -> Self?

    /// Merges changes.
    ///
    /// - Parameter changes: The elements of the kind ``BacklogKind/change(mayBeLost:)``, in order.
    /// - Returns: The replacement of each; nil for those that are void.
    static func merged(_ changes: [Self]) -> [Self?]
}

extension BacklogElement {
    var backlogKind: BacklogKind { .kept }
    var endedLink: LinkID? { nil }
    static func end(_ link: LinkID) -> Self? { nil }
    static func merged(_ changes: [Self]) -> [Self?] { changes }
}

/// The events that wait for a manager's queue, in order.
///
/// Pure. Scan reports, and values that a peer sends unasked, are limited in number. Changes that a peer makes again and
/// again are merged. Everything else follows from what the app requested, and is kept.
///
/// Appending and removing take constant time. At the limit, one pass over all elements frees enough room that the next
/// pass is far off.
struct Backlog<Element: BacklogElement>: Sendable {
    private var elements = Deque<Element>()
    private let limits: CBManagerLimits
    private var reports = 0
    private var values = 0
    private var changes = 0
    /// The number of changes above which they are merged.
    private var changeLimit: Int
    /// Links that are being ended because their values were too many.
    private var endingLinks: Set<LinkID> = []
    private var isOverflowing = false
    private(set) var dropped = CBDroppedEvents()

    init(limits: CBManagerLimits) {
        self.limits = limits
        changeLimit = max(1, limits.undeliveredEvents)
    }

    var isEmpty: Bool { elements.isEmpty }

    var count: Int { elements.count }

    private var limit: Int { max(1, limits.undeliveredEvents) }

    // MARK: Use

    /// Appends an element.
    ///
    /// - Returns: Whether this is the first loss since the backlog was last below its limits.
    mutating func append(_ element: Element) -> Bool {
        switch element.backlogKind {
        case .kept:
            elements.append(element)
            return false
        case .change:
            elements.append(element)
            changes += 1
            noteEnd(element)
            guard changes > changeLimit else { return false }
            mergeChanges()
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
        return !exchange(&isOverflowing, with: true)
    }

    mutating func popFirst() -> Element? {
        guard let element = elements.popFirst() else { return nil }
        count(element, by: -1)
        if changes <= limit / 2 { changeLimit = limit }
        if isOverflowing, max(reports, values, changes) <= limit / 2 { isOverflowing = false }
        return element
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements.removeAll(where: isUnwanted)
        recount()
    }

    private mutating func recount() {
        (reports, values, changes) = (0, 0, 0)
        for element in elements { count(element, by: 1) }
    }

    private mutating func count(_ element: Element, by step: Int) {
        switch element.backlogKind {
        case .kept: break
        case .report: reports += step
        case .value: values += step
        case .change: changes += step
        }
    }

    private mutating func noteEnd(_ element: Element) {
        if !endingLinks.isEmpty, let link = element.endedLink { endingLinks.remove(link) }
    }

    // MARK: Room

    /// The number of elements that are removed beyond the limit, so that it is not reached again at once.
    private var slack: Int { limit / 8 }

    /// Merges the reports of each peer into the newest, in the place of the first; drops the oldest if that is not
    /// enough.
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

    /// Removes changes that later ones cancel; drops the oldest of those that may be lost if that is not enough.
    ///
    /// The rest belongs to links that are up, or to what the app requested. The next merge takes place when their
    /// number has doubled.
    private mutating func mergeChanges() {
        var merged = Element.merged(Array(elements.lazy.filter(\.isChange))).makeIterator()
        let count = elements.count
        elements = Deque(
            elements.compactMap { element in
                guard element.isChange else { return element }
                return merged.next() ?? nil
            })
        recount()
        dropped.mergedChanges += count - elements.count
        if changes > limit - slack {
            dropped.changes += dropFirst(changes - (limit - slack)) { $0 == .change(mayBeLost: true) }
        }
        changeLimit = changes <= limit - slack ? limit : 2 * changes
    }

    /// Drops the oldest values of the source with the most values, or its link.
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

extension BacklogElement {
    fileprivate var isChange: Bool {
        if case .change = backlogKind { true } else { false }
    }
}
