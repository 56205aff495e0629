/// An object of CoreBluetooth that passes between a manager's queue and a scenario's task.
struct Carried<Object: AnyObject>: @unchecked Sendable {
    // Invariant: used by one of them at a time, or for properties that CoreBluetooth lets any thread read.
    let object: Object
    init(_ object: Object) { self.object = object }
}
