/// One run of a scenario: the fixture, the name, and the differences.
struct ScenarioRun {
    let fixture: any ContractFixture
    let name: String
    let differences: [ContractEvent: [ContractEvent]]

    init(_ name: String, on fixture: any ContractFixture) {
        self.fixture = fixture
        self.name = name
        differences = ContractDifference.events(for: name, on: fixture.name)
    }

    /// The events that this fixture is expected to have.
    func expected(_ events: [ContractEvent]) -> [ContractEvent] { events.flatMap { differences[$0] ?? [$0] } }
}
