import Foundation
import Testing

/// A behavior that AsyncBluetooth and BluetoothProfiles have on every backend.
struct AsyncScenario: Sendable, CustomTestStringConvertible {
    /// The rule, as a sentence.
    let name: String
    /// Whether it needs centrals across the air.
    let needsPeripheralRole: Bool
    /// The file that defines it, without folder and extension.
    let topic: String
    private let body: @Sendable (AsyncContext) async throws -> Void

    init(
        _ name: String, needsPeripheralRole: Bool = false, file: String = #fileID,
        _ body: @escaping @Sendable (AsyncContext) async throws -> Void
    ) {
        self.name = name
        self.needsPeripheralRole = needsPeripheralRole
        topic = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        self.body = body
    }

    var testDescription: String { name }

    func run(on fixture: any ContractFixture) async throws {
        try await fixture.begin()
        try await body(AsyncContext(fixture))
    }

    /// All scenarios, in the order in which they run.
    ///
    /// A test compares them with the files of this folder.
    static let all: [AsyncScenario] = [finding, exploring, readingAndWriting, listening, losing, profiles, serving]
        .flatMap { $0 }
}
