import Foundation

/// The seed of tests that name none.
enum Seed {
    /// The value of `COREBLUETOOTH_SEED`; nil without it.
    ///
    /// Traps if the variable is not a number: a run that silently used another seed would mislead.
    static let ofEnvironment: UInt64? = {
        guard let text = ProcessInfo.processInfo.environment["COREBLUETOOTH_SEED"] else { return nil }
        guard let seed = UInt64(text) else { preconditionFailure("COREBLUETOOTH_SEED=\(text) is not a number") }
        return seed
    }()
}
