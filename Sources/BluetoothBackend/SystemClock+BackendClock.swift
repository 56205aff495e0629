package import BluetoothSupport

extension SystemClock: BackendClock {
    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        call(after: delay, body)
    }
}

extension DelayedCall: BackendTimer {}
