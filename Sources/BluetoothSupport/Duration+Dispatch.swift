package import Dispatch

extension Duration {
    /// The same in Dispatch's terms; beyond about 285 years, never.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        guard seconds < 9_000_000_000 else { return .never }
        return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
}
