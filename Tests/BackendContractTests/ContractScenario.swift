import CoreBluetooth
import Testing

/// What a scenario needs of a fixture beyond the central role and the two peers.
enum ContractFeature: String, CaseIterable, Sendable {
    /// Managers that publish and advertise, and centrals across the air.
    case peripheralRole = "the peripheral role"
    /// Pairing agents, and peers that pair.
    case pairing
    /// L2CAP channels at both ends.
    case channels = "L2CAP channels"
    /// Other apps of the managers' host.
    case otherApps = "other apps"
    /// Apps that are ended and started again.
    case restoration
}

/// One thing that every backend does alike, told as an app would do it.
struct ContractScenario: Sendable, CustomTestStringConvertible {
    typealias CentralBody = @Sendable (ContractContext) async throws -> Void
    typealias PeripheralBody = @Sendable (PeripheralContext) async throws -> Void

    private enum Body: Sendable {
        case central(CentralBody)
        case peripheral(PeripheralBody)
    }

    /// The rule, as a sentence, with the statements that it proves.
    let name: String
    /// Whether it needs no more than some connectable peripheral: also runs on a foreign one.
    let isGeneric: Bool
    /// What not every fixture has.
    let needs: Set<ContractFeature>
    /// Why BlueZ can never play it; nil if it can, be it later.
    let emulatorOnly: String?
    private let body: Body

    /// A scenario of the central role: the app's manager is a `CBCentralManager`.
    init(
        _ name: String, isGeneric: Bool = false, needs: Set<ContractFeature> = [], emulatorOnly: String? = nil,
        _ body: @escaping CentralBody
    ) {
        self.name = name
        self.isGeneric = isGeneric
        self.needs = needs
        self.emulatorOnly = emulatorOnly
        self.body = .central(body)
    }

    /// A scenario of the peripheral role: the app's manager is a `CBPeripheralManager`, the peers are centrals.
    init(
        peripheral name: String, needs: Set<ContractFeature> = [], emulatorOnly: String? = nil,
        _ body: @escaping PeripheralBody
    ) {
        self.name = name
        isGeneric = false
        self.needs = needs.union([.peripheralRole])
        self.emulatorOnly = emulatorOnly
        self.body = .peripheral(body)
    }

    var testDescription: String { name }

    /// Whether BlueZ can play it, now or later.
    var isExpressibleOnBlueZ: Bool { emulatorOnly == nil }

    /// Plays it, and checks that nothing happened that it did not expect.
    func play(on fixture: any ContractFixture) async throws {
        let differences = ContractDifference.lines(for: name, on: fixture.name)
        switch body {
        case .central(let body):
            let context = ContractContext(fixture, scenario: name, differences: differences)
            try await body(context)
            context.finish()
        case .peripheral(let body):
            try await fixture.perform(.advertise(.contract, false))
            let context = PeripheralContext(fixture, scenario: name, differences: differences)
            try await body(context)
            context.finish()
            try await context.finishCentrals()
        }
    }

    /// All of them, in the order in which they run.
    static let all: [ContractScenario] = centralRole + peripheralRole + security + channels + host

    /// The first contract.
    static let centralRole =
        scanning + connecting + power + discovering + reading + writing + notifying + describing + changing

    static let peripheralRole = publishing + serving + subscribing + advertising + peripheralPower
    static let channels = openingChannels + publishingChannels
    static let host = restoring + connectionEvents
    static let security = securingCentral + securingPeripheral
}
