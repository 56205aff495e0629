/// A table with one wrapper for each wrapped object, as long as the wrapper is used.
///
/// A wrapper retains its object, so that no other object gets the same key meanwhile. A value under its owner's lock.
struct WrapperTable<Wrapper: AnyObject> {
    private var entries: [ObjectIdentifier: WeakReference<Wrapper>] = [:]
    private var sweepAt = 32

    /// The living wrappers.
    var living: [Wrapper] { entries.values.compactMap(\.object) }

    /// Returns the wrapper of an object, creating it if needed.
    mutating func wrapper(of object: AnyObject, make: () -> Wrapper) -> Wrapper {
        let key = ObjectIdentifier(object)
        if let known = entries[key]?.object { return known }
        let new = make()
        entries[key] = WeakReference(new)
        sweep()
        return new
    }

    /// Removes the wrappers that are gone, each time their number has doubled.
    private mutating func sweep() {
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { $0.value.object != nil }
        sweepAt = max(32, 2 * entries.count)
    }
}
