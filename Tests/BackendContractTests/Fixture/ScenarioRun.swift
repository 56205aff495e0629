import BluetoothSupport
import Foundation

/// One run of a scenario: the fixture, the name, the differences, and the traces of the managers and agents.
final class ScenarioRun: Sendable {
    let fixture: any ContractFixture
    let name: String
    let differences: [ContractEvent: [ContractEvent]]
    private let traces = Lock<[ContractTrace]>([])

    /// The file to which `CONTRACT_TRACES` has the events of all scenarios written, to compare two stages line by line.
    private static let file = ProcessInfo.processInfo.environment["CONTRACT_TRACES"]

    init(_ name: String, on fixture: any ContractFixture) {
        self.fixture = fixture
        self.name = name
        differences = ContractDifference.events(for: name, on: fixture.name)
    }

    /// The events that this fixture is expected to have.
    func expected(_ events: [ContractEvent]) -> [ContractEvent] { events.flatMap { differences[$0] ?? [$0] } }

    /// Adds the trace of a manager or of an agent.
    func add(_ trace: ContractTrace) { traces.withLock { $0.append(trace) } }

    /// Appends the events of each manager and agent to the file, if the environment names one.
    func writeTraces() throws {
        guard let file = Self.file else { return }
        var text = "# \(name)\n"
        for (number, trace) in traces.withLock({ $0 }).enumerated() {
            for event in trace.events { text += "\(number): \(event)\n" }
        }
        let url = URL(fileURLWithPath: file)
        if !FileManager.default.fileExists(atPath: file) { try Data().write(to: url) }
        let handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}
