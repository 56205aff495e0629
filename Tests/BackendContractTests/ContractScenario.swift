import CoreBluetooth
import Testing

/// One thing that every backend does alike, told as an app would do it.
struct ContractScenario: Sendable, CustomTestStringConvertible {
    /// The rule, as a sentence, with the statements that it proves.
    let name: String
    /// Whether it needs no more than some connectable peripheral: also runs on a foreign one.
    var isGeneric = false
    let body: @Sendable (ContractContext) async throws -> Void

    init(_ name: String, isGeneric: Bool = false, _ body: @escaping @Sendable (ContractContext) async throws -> Void) {
        self.name = name
        self.isGeneric = isGeneric
        self.body = body
    }

    var testDescription: String { name }

    /// All of them, in the order in which they run.
    static let all: [ContractScenario] =
        scanning + connecting + power + discovering + reading + writing + notifying + describing + changing
}
