import Foundation

/// The seed of tests that name none.
enum Seed {
    /// The value of `COREBLUETOOTH_SEED`; nil without it.
    static let ofEnvironment: UInt64? = ProcessInfo.number(of: "COREBLUETOOTH_SEED")
}

extension ProcessInfo {
    /// Returns the value of a variable of the environment; nil without it.
    ///
    /// Traps if the variable is not a number: a run that silently used another one would mislead.
    static func number<Number: FixedWidthInteger>(of variable: String) -> Number? {
        guard let text = processInfo.environment[variable] else { return nil }
        guard let number = Number(text) else { preconditionFailure("\(variable)=\(text) is not a number") }
        return number
    }
}
