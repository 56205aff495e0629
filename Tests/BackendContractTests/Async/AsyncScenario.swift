import Testing

/// One thing that AsyncBluetooth and BluetoothProfiles do alike on every radio.
struct AsyncScenario: Sendable, CustomTestStringConvertible {
    /// The rule, as a sentence.
    let name: String
    /// Whether it needs centrals across the air.
    let needsPeripheralRole: Bool
    private let body: @Sendable (AsyncContext) async throws -> Void

    init(
        _ name: String, needsPeripheralRole: Bool = false,
        _ body: @escaping @Sendable (AsyncContext) async throws -> Void
    ) {
        self.name = name
        self.needsPeripheralRole = needsPeripheralRole
        self.body = body
    }

    var testDescription: String { name }

    func play(on fixture: AsyncFixture) async throws {
        try await fixture.begin()
        try await body(AsyncContext(fixture))
    }

    /// All of them, in the order in which they run.
    static let all = finding + exploring + readingAndWriting + listening + losing + profiles + serving
}
