/// Names something that an app keeps with a peripheral, and its type.
///
/// ```
/// enum Nickname: PeripheralContextKey { static let defaultValue = "" }
/// peripheral[Nickname.self] = "Left shoe"
/// ```
public protocol PeripheralContextKey {
    /// The type of what is kept.
    associatedtype Value: Sendable
    /// What there is before anything was set.
    static var defaultValue: Value { get }
}

extension Peripheral {
    /// What the app keeps with this peripheral, as long as the object lives.
    public subscript<Key: PeripheralContextKey>(key: Key.Type) -> Key.Value {
        get { core.withState { $0.context[ObjectIdentifier(key)] as? Key.Value } ?? Key.defaultValue }
        set {
            // The old one is let go outside the lock.
            let old = core.withState { $0.context.updateValue(newValue, forKey: ObjectIdentifier(key)) }
            withExtendedLifetime(old) {}
        }
    }
}
