import BluetoothLocking
import Synchronization

/// State under a lock that several closures of a server share.
final class SharedState<Value: Sendable>: Sendable {
    private let value: Lock<Value>

    init(_ value: Value) { self.value = Lock(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in body(&value) }
    }
}
