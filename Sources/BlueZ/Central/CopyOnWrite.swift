#if os(Linux)
/// A value on the heap: cheap to read and to move, copied by its first change while it is shared.
///
/// A dictionary copies a whole element, and retains everything in it, to return one of its fields.
@dynamicMemberLookup
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Invariant: `value` is changed only while a single `CopyOnWrite`, which is being changed, refers to it.
    private final class Storage: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: Value) { storage = Storage(value) }

    /// Changes the value in place.
    mutating func update<Result>(_ body: (inout Value) -> Result) -> Result {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
        return body(&storage.value)
    }

    /// A part of the value.
    subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { storage.value[keyPath: part] }

    /// A part of the value.
    subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Part {
        _read { yield storage.value[keyPath: part] }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value[keyPath: part]
        }
    }
}
#endif
