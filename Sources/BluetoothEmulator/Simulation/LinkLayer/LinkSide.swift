/// The two ends of a link.
enum LinkSide: Hashable, Sendable {
    case central
    case peripheral

    var other: LinkSide { self == .central ? .peripheral : .central }
}
