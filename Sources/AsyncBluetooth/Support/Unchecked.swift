/// Carries an object of CoreBluetooth, which is not `Sendable`, to where it may be used.
// Invariant: managers, peripherals, centrals and attributes may be called
// from any thread by CoreBluetooth's own rule, and are only carried; what is collected in a state is reached under
// that state's lock; mutable attributes of a server are changed before they are published.
struct Unchecked<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
