import CoreBluetooth
import Testing

/// A feature that a scenario needs besides the central role and the two peers, and that not every fixture has.
enum ContractFeature: String, CaseIterable, Sendable {
    /// Managers that publish and advertise, and centrals across the air.
    case peripheralRole = "the peripheral role"
    /// Pairing agents, and peers that pair.
    case pairing
    /// L2CAP channels at both ends.
    case channels = "L2CAP channels"
    /// The signal strength of links.
    case connectedRSSI = "the signal strength of links"
    /// Other apps of the managers' host.
    case otherApps = "other apps"
    /// Apps that are ended and started again.
    case restoration
}

/// A behavior that every backend has, described as an app uses it.
struct ContractScenario: Sendable, CustomTestStringConvertible {
    typealias CentralBody = @Sendable (ContractContext) async throws -> Void
    typealias PeripheralBody = @Sendable (PeripheralContext) async throws -> Void

    private enum Body: Sendable {
        case central(CentralBody)
        case peripheral(PeripheralBody)
    }

    /// The numbers of the statements that it proves, and the rule: "S34 S36: connecting, then connected".
    let name: String
    /// Whether any connectable peripheral suffices, even a foreign one.
    let isGeneric: Bool
    let needs: Set<ContractFeature>
    /// The reason why BlueZ can never run it; nil if it can.
    let emulatorOnly: String?
    /// The file that defines it, without folder and extension.
    let topic: String
    private let body: Body

    private init(
        _ rule: String, _ statements: [String], isGeneric: Bool = false, needs: Set<ContractFeature>,
        emulatorOnly: String?, file: String, _ body: Body
    ) {
        name = "\(statements.joined(separator: " ")): \(rule)"
        self.isGeneric = isGeneric
        self.needs = needs
        self.emulatorOnly = emulatorOnly
        topic = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        self.body = body
    }

    /// Creates a scenario of the central role: the app's manager is a `CBCentralManager`.
    static func central(
        _ rule: String, proving statements: String..., isGeneric: Bool = false, needs: ContractFeature...,
        emulatorOnly: String? = nil, file: String = #fileID, _ body: @escaping CentralBody
    ) -> Self {
        Self(
            rule, statements, isGeneric: isGeneric, needs: Set(needs), emulatorOnly: emulatorOnly, file: file,
            .central(body))
    }

    /// Creates a scenario of the peripheral role: the app's manager is a `CBPeripheralManager`, the peers are centrals.
    static func peripheral(
        _ rule: String, proving statements: String..., needs: ContractFeature..., emulatorOnly: String? = nil,
        file: String = #fileID, _ body: @escaping PeripheralBody
    ) -> Self {
        Self(
            rule, statements, needs: Set(needs + [.peripheralRole]), emulatorOnly: emulatorOnly, file: file,
            .peripheral(body))
    }

    var testDescription: String { name }

    /// Runs the scenario, and checks that only expected events occurred.
    func run(on fixture: any ContractFixture) async throws {
        try await fixture.begin()
        let run = ScenarioRun(name, on: fixture)
        switch body {
        case .central(let body):
            let context = ContractContext(run)
            try await body(context)
            context.finish()
        case .peripheral(let body):
            try await fixture.perform(.advertise(.contract, false))
            let context = PeripheralContext(run)
            try await body(context)
            context.finish()
            try await context.finishCentrals()
        }
        try run.writeTraces()
    }

    /// All scenarios, in the order in which they run.
    ///
    /// A test compares them with the files of `Scenarios`.
    static let all: [ContractScenario] = [
        scanning, connecting, power, discovering, reading, writing, notifying, describing, changing,
        publishing, servingReads, servingWrites, servingMany, subscribing, advertising, peripheralPower,
        securingCentral, securingPeripheral, openingChannels, publishingChannels, restoring, connectionEvents,
    ].flatMap { $0 }
}
