/// A variable of the environment with an invalid value.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The variable, its value or the part that is wrong, and the reason.
    package let description: String

    package init(_ description: String) { self.description = description }
}
