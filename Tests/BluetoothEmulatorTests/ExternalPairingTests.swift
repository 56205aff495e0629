import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// Pairings with hosts outside of the emulator: their Security Managers pair, and the world asks its agents.
@Suite struct ExternalPairingTests {
    /// Demands encryption for a read until it is said to be there.
    private final class Firmware: ExternalPeripheralHandler {
        let isEncrypted = Lock(false)

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            isEncrypted.withLock { $0 } ? .value(Data([7])) : .error(.insufficientAuthentication)
        }

        func respond(to request: ChannelRequest) async -> ChannelResponse { .refused(.noService) }
    }

    /// An app that is connected to firmware.
    private struct Scene {
        let fixture: Fixture
        let firmware = Firmware()
        let device: EmulatedDevice
        let link: LinkID
        let value: AttributeID
        let tap: TapRecorder
        let agent: any PairingBackend
        let sink = CollectingSink<PairingEvent>()

        var emulator: Emulator { fixture.emulator }
        var peer: PeerID { get throws { try #require(device.identifier()) } }

        init(agent capability: PairingCapability? = .displayYesNo, agrees: Bool = true) async throws {
            var configuration = EmulatorConfiguration.instant
            configuration.agreesToPairing = agrees
            fixture = Fixture(configuration)
            let description = PeripheralDescription(
                name: "Firmware", advertising: [AdvertisingDescription(AdvertisingData())],
                services: [
                    ServiceDescription("FFF0", characteristics: [CharacteristicDescription("FFF1", [.read, .notify])])
                ], pairing: PairingDescription(answer: .reject))
            device = try fixture.emulator.add(EmulatedPeripheral(description, handler: firmware))
            agent = fixture.emulator.makePairing()
            if let capability {
                agent.activate(sink)
                agent.submit(.setCapability(capability))
            }
            try await fixture.powerOn()
            link = try await fixture.connect(device)
            value = try await fixture.attributes(link).characteristic("FFF1")
            tap = TapRecorder(fixture.emulator, .externalHosts)
        }

        func number() throws -> UInt32 { try #require(device.connections.first).link }

        /// Reads the protected value, until the link layer is asked for security.
        func read() async throws {
            fixture.submit(.request(link: link, operation: op(1), .read(value)))
            try await fixture.emulator.advance(until: { !tap.kinds().isEmpty })
        }

        func control(_ control: LinkControl) async throws {
            fixture.emulator.control(link: try number(), control)
            try await fixture.emulator.advance(by: .seconds(1))
        }

        func answer(_ answer: PairingAnswer) async throws {
            guard case .requested(let request, _, _)? = sink.events.last else { throw Unexpected("no question") }
            agent.submit(.answer(request: request, answer: answer))
            try await fixture.emulator.advance(by: .seconds(1))
        }

        var response: LinkResponse? {
            fixture.events.lazy.compactMap { event -> LinkResponse? in
                if case .response(_, op(1), let response) = event { response } else { nil }
            }.first
        }
    }

    @Test func anOperationThatNeedsSecurityIsRetriedAfterThePairing() async throws {
        let scene = try await Scene()
        try await scene.read()
        let number = try scene.number()
        #expect(scene.tap.kinds() == [.externalPairingRequested(link: number)])
        try await scene.control(.askUser(.central, .confirm(passkey: 12)))
        #expect(scene.emulator.pairingCapability(ofHost: scene.emulator.host.index) == .displayYesNo)
        guard case .requested(_, try scene.peer, .confirm(passkey: 12))? = scene.sink.events.last else {
            throw Unexpected("\(scene.sink.events)")
        }
        try await scene.answer(.accept)
        #expect(scene.tap.kinds().last == .externalPairingAnswered(link: number, .accept))
        scene.firmware.isEncrypted.withLock { $0 = true }
        try await scene.control(.setSecurity(.authenticated))
        #expect(scene.response == nil)
        try await scene.control(.endPairing(.paired(isBonded: true, isAuthenticated: true)))
        try await scene.emulator.advance(by: .seconds(1))
        #expect(scene.response == .value(Data([7])))
        #expect(scene.sink.events.last == .paired(peer: try scene.peer, operation: nil, isBonded: true))
        let bonds = scene.emulator.host.bonds
        #expect(bonds.map(\.peer) == [try scene.peer])
        #expect(bonds.map(\.isAuthenticated) == [true])
    }

    @Test func aPairingThatFailsFailsTheOperation() async throws {
        let scene = try await Scene()
        try await scene.read()
        try await scene.control(.askUser(.central, .enterPasskey))
        try await scene.control(.endPairing(.failed(.invalidParameters)))
        guard case .failure(let error)? = scene.response else { throw Unexpected("\(scene.fixture.events)") }
        #expect(error.attCode == 0x05)
        let kinds = scene.sink.events.suffix(2)
        guard case .cancelled? = kinds.first, case .pairingFailed(_, nil, let failure)? = kinds.last else {
            throw Unexpected("\(scene.sink.events)")
        }
        #expect(failure.code == .invalidParameters)
        #expect(scene.emulator.host.bonds.isEmpty)
    }

    @Test(arguments: [(PairingAnswer.reject, PairingAnswer.reject), (.passkey(7), .passkey(7)), (.accept, .reject)])
    func theAnswerOfTheAgentIsPassedOn(_ given: PairingAnswer, _ passed: PairingAnswer) async throws {
        let scene = try await Scene(agent: .keyboardOnly)
        try await scene.control(.askUser(.central, .enterPasskey))
        try await scene.answer(given)
        #expect(scene.tap.kinds() == [.externalPairingAnswered(link: try scene.number(), passed)])
    }

    @Test func aNumberThatIsDisplayedNeedsNoAnswer() async throws {
        let scene = try await Scene(agent: .displayOnly)
        try await scene.control(.askUser(.central, .display(passkey: 42)))
        #expect(scene.tap.kinds().isEmpty)
        try await scene.answer(.reject)
        #expect(scene.tap.kinds() == [.externalPairingAnswered(link: try scene.number(), .reject)])
    }

    @Test func theAppThatRequestsAPairingNeedNotAgreeToIt() async throws {
        let scene = try await Scene(agent: .noInputNoOutput)
        scene.agent.submit(.pair(peer: try scene.peer, operation: op(5)))
        try await scene.emulator.advance(until: { !scene.tap.kinds().isEmpty })
        try await scene.control(.askUser(.central, .consent))
        let number = try scene.number()
        #expect(
            scene.tap.kinds() == [
                .externalPairingRequested(link: number), .externalPairingAnswered(link: number, .accept),
            ])
        try await scene.control(.endPairing(.paired(isBonded: true, isAuthenticated: false)))
        #expect(scene.sink.events == [.paired(peer: try scene.peer, operation: op(5), isBonded: true)])
    }

    @Test(arguments: [true, false]) func withoutAnAgentTheSettingsDecide(agrees: Bool) async throws {
        let scene = try await Scene(agent: nil, agrees: agrees)
        #expect(scene.emulator.pairingCapability(ofHost: scene.emulator.host.index) == nil)
        try await scene.control(.askUser(.central, .consent))
        #expect(
            scene.tap.kinds() == [.externalPairingAnswered(link: try scene.number(), agrees ? .accept : .reject)])
    }

    @Test func anAgentThatLeavesEndsThePairing() async throws {
        let scene = try await Scene()
        try await scene.read()
        try await scene.control(.askUser(.central, .confirm(passkey: 12)))
        scene.agent.invalidate()
        try await scene.emulator.advance(by: .seconds(1))
        #expect(scene.tap.kinds().last == .externalPairingAnswered(link: try scene.number(), nil))
        #expect(scene.response != nil)
    }

    @Test func aPairingWithoutAnEndExpires() async throws {
        let scene = try await Scene()
        try await scene.read()
        try await scene.emulator.advance(by: .seconds(31))
        guard case .pairingFailed(_, nil, let error)? = scene.sink.events.last else {
            throw Unexpected("\(scene.sink.events)")
        }
        #expect(error.code == .encryptionTimedOut)
    }

    @Test func aBondedLinkStartsWithoutEncryption() async throws {
        let scene = try await Scene()
        try await scene.control(.endPairing(.paired(isBonded: true, isAuthenticated: true)))
        scene.device.disconnect()
        try await scene.emulator.runUntilIdle()
        _ = try await scene.fixture.connect(scene.device)
        #expect(scene.device.connections.first?.security == .bonded)
        // Without its bond, the host has no keys.
        scene.agent.submit(.unpair(peer: try scene.peer, operation: op(6)))
        try await scene.emulator.advance(by: .seconds(1))
        _ = try await scene.fixture.connect(scene.device)
        #expect(scene.device.connections.first?.security == .plain)
    }

    // MARK: The external central

    /// A device with a value that notifies, and the change of its services.
    private static let box = PeripheralDescription(
        name: "Box", advertising: [AdvertisingDescription(AdvertisingData())],
        services: [
            ServiceDescription("FFF0", characteristics: [CharacteristicDescription("FFF2", [.read, .notify])])
        ])

    /// An external central of the box.
    private struct CentralScene {
        let fixture: Fixture
        let external: ExternalCentral
        let device: EmulatedDevice

        init() async throws {
            let emulator = Emulator(configuration: .instant, time: .virtual, seed: 1)
            external = emulator.host.makeExternalCentral()
            fixture = Fixture(emulator: emulator, central: external.role)
            device = try emulator.add(EmulatedPeripheral(ExternalPairingTests.box))
            try await fixture.powerOn()
        }

        func control(_ control: LinkControl, on link: LinkID) async throws {
            fixture.emulator.control(link: try #require(external.connection(of: link)).link, control)
            try await fixture.emulator.runUntilIdle()
        }

        /// Connects, pairs and bonds, subscribes, and disconnects.
        func bondAndSubscribe() async throws -> AttributeID {
            let link = try await fixture.connect(device)
            let id = try await fixture.attributes(link).characteristic("FFF2")
            try await control(.setSecurity(.encrypted), on: link)
            try await control(.endPairing(.paired(isBonded: true, isAuthenticated: false)), on: link)
            _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
            device.disconnect()
            try await fixture.emulator.runUntilIdle()
            return id
        }
    }

    @Test func aBondedCentralHasItsSubscriptionsWhenItEncryptsAgain() async throws {
        let scene = try await CentralScene()
        let id = try await scene.bondAndSubscribe()
        let link = try await scene.fixture.connect(scene.device)
        #expect(scene.external.connection(of: link)?.security == .bonded)
        #expect(scene.external.rememberedSubscriptions(of: link) == [id])
        scene.device.notify("FFF2", value: Data([1]))
        #expect(try await scene.fixture.run().isEmpty)
        try await scene.control(.setSecurity(.encrypted), on: link)
        try await scene.control(.endPairing(.resumed), on: link)
        scene.device.notify("FFF2", value: Data([2]))
        #expect(try await scene.fixture.run() == [.valueNotified(link: link, attribute: id, value: Data([2]))])
    }

    @Test func aNewPairingHasNoSubscriptions() async throws {
        let scene = try await CentralScene()
        _ = try await scene.bondAndSubscribe()
        let link = try await scene.fixture.connect(scene.device)
        try await scene.control(.setSecurity(.encrypted), on: link)
        try await scene.control(.endPairing(.paired(isBonded: true, isAuthenticated: false)), on: link)
        #expect(scene.external.rememberedSubscriptions(of: link) == [])
        scene.device.notify("FFF2", value: Data([2]))
        #expect(try await scene.fixture.run().isEmpty)
    }

    @Test func aBondedCentralLearnsOfServicesThatHaveChangedMeanwhile() async throws {
        let scene = try await CentralScene()
        _ = try await scene.bondAndSubscribe()
        try scene.device.addService(ServiceDescription("FFF9"))
        let link = try await scene.fixture.connect(scene.device)
        #expect(!scene.fixture.events.contains { if case .servicesChanged(link, _, _) = $0 { true } else { false } })
        try await scene.control(.setSecurity(.encrypted), on: link)
        try await scene.control(.endPairing(.resumed), on: link)
        #expect(scene.fixture.events.contains { if case .servicesChanged(link, _, _) = $0 { true } else { false } })
    }

    @Test func aDeviceThatRequestsSecurityDoesNotPairByItself() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual, seed: 1)
        let external = emulator.host.makeExternalCentral()
        let fixture = Fixture(emulator: emulator, central: external.role)
        var box = Self.box
        box.pairing = PairingDescription(requestsSecurity: true)
        let device = try emulator.add(EmulatedPeripheral(box))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        try await emulator.advance(by: .seconds(1))
        #expect(external.connection(of: link)?.security == .plain)
    }
}
