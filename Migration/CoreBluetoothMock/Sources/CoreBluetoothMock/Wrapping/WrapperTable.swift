/// One wrapper for each wrapped object, as long as anyone uses the wrapper.
///
/// A wrapper keeps its object alive, so that no other object gets the same key meanwhile. A value under its owner's lock.
struct WrapperTable<Wrapper: AnyObject> {
    private var entries: [ObjectIdentifier: WeakReference<Wrapper>] = [:]
    private var sweepAt = 32

    /// The living wrappers.
    var living: [Wrapper] { entries.values.compactMap(\.object) }

    /// The wrapper of an object, made if there is none.
    mutating func wrapper(of object: AnyObject, make: () -> Wrapper) -> Wrapper {
        let key = ObjectIdentifier(object)
        if let known = entries[key]?.object { return known }
        let new = make()
        entries[key] = WeakReference(new)
        sweep()
        return new
    }

    /// Forgets the wrappers that are gone, each time their number has doubled.
    private mutating func sweep() {
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { $0.value.object != nil }
        sweepAt = max(32, 2 * entries.count)
    }
}
