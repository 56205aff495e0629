import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// How two sides pair, and what the users do.
@Suite struct PairingTests {
    /// Proves S72.
    @Test func S72_aProtectedAttributePairsAndTheReadIsTriedAgain() async throws {
        let stage = try await SecureStage(configuration: .default)
        #expect(!stage.emulator.host.isBonded(with: stage.device))
        let link = try await stage.beginRead()
        try await stage.emulator.runUntilIdle()
        #expect(stage.central.events.last == SecureStage.value(link))
        #expect(stage.emulator.host.isBonded(with: stage.device))
    }

    /// Proves S72.
    @Test func S72_aRefusedPairingSurfacesTheCode() async throws {
        let stage = try await SecureStage(PairingDescription(answer: .reject))
        let link = try await stage.beginRead()
        try await stage.emulator.runUntilIdle()
        #expect(stage.central.events.last == SecureStage.refused(link))
        #expect(!stage.emulator.host.isBonded(with: stage.device))
        // The next operation tries again.
        try stage.device.setPairing(PairingDescription())
        let id = try await stage.central.attributes(link).characteristic(SecureStage.secret)
        let told = try await stage.central.run(.read(link: link, operation: op(1), attribute: id))
        #expect(told == [SecureStage.value(link)])
    }

    /// A Linux system without an agent agrees to nothing.
    @Test(arguments: [PairingCapability.noInputNoOutput, nil])
    func aHostThatDoesNotAgreeNeedsAnAgent(agent: PairingCapability?) async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.agreesToPairing = false
        let stage = try await SecureStage(agent: agent, configuration: configuration)
        let link = try await stage.beginRead()
        if agent != nil { try await stage.answer(.accept) }
        #expect(stage.central.events.last == (agent == nil ? SecureStage.refused(link) : SecureStage.value(link)))
        #expect(stage.emulator.host.isBonded(with: stage.device) == (agent != nil))
    }

    @Test func aDeviceThatNeverAnswersFailsAfter30SecondsAndForGood() async throws {
        let stage = try await SecureStage(PairingDescription(answer: .ignore))
        let link = try await stage.beginRead()
        let count = stage.central.events.count
        try await stage.emulator.advance(by: .milliseconds(29_900))
        #expect(stage.central.events.count == count)
        try await stage.emulator.advance(by: .milliseconds(200))
        #expect(stage.central.events.last == SecureStage.refused(link))
        try stage.device.setPairing(PairingDescription())
        let id = try await stage.central.attributes(link).characteristic(SecureStage.secret)
        let told = try await stage.central.run(.read(link: link, operation: op(1), attribute: id))
        #expect(told == [SecureStage.refused(link)])
    }

    @Test(arguments: [true, false])
    func justWorksAsksTheUserForConsent(agrees: Bool) async throws {
        let stage = try await SecureStage(agent: .displayYesNo)
        let link = try await stage.beginRead()
        let peer = try stage.peer
        #expect(stage.question == .consent)
        let count = stage.central.events.count
        try await stage.emulator.advance(by: .seconds(20))
        #expect(stage.central.events.count == count)
        try await stage.answer(agrees ? .accept : .reject)
        if agrees {
            #expect(stage.events.last == .paired(peer: peer, operation: nil, isBonded: true))
        } else {
            #expect(stage.failure == .operationCancelled)
        }
        #expect(stage.central.events.last == (agrees ? SecureStage.value(link) : SecureStage.refused(link)))
    }

    @Test func aUserWhoNeverAnswersIsNotAskedAnyMoreAfter30Seconds() async throws {
        let stage = try await SecureStage(agent: .displayYesNo)
        let link = try await stage.beginRead()
        try await stage.emulator.advance(by: .seconds(31))
        #expect(stage.events.contains(.cancelled(request: PairingRequestID(rawValue: 1))))
        #expect(stage.failure == .encryptionTimedOut)
        #expect(stage.central.events.last == SecureStage.refused(link))
    }

    @Test(arguments: [123_456, 654_321])
    func thePasskeyThatTheDeviceShowsIsTypedAtTheHost(typed: Int) async throws {
        let stage = try await SecureStage(
            PairingDescription(capability: .displayOnly, passkey: 123_456), agent: .keyboardDisplay)
        let link = try await stage.beginRead()
        #expect(stage.question == .enterPasskey)
        try await stage.answer(.passkey(typed))
        if typed == 123_456 {
            #expect(stage.central.events.last == SecureStage.value(link))
        } else {
            #expect(stage.failure == .invalidParameters)
            #expect(stage.central.events.last == SecureStage.refused(link))
        }
    }

    @Test func thePasskeyThatTheHostShowsIsTypedAtTheDevice() async throws {
        let stage = try await SecureStage(PairingDescription(capability: .keyboardOnly), agent: .displayOnly)
        let link = try await stage.beginRead()
        let peer = try stage.peer
        guard case .display(let passkey)? = stage.question else { throw Unexpected("\(stage.events)") }
        #expect((0...999_999).contains(passkey))
        try await stage.emulator.runUntilIdle()
        // What is shown goes with the pairing that it was for.
        #expect(stage.events.map(\.kind) == [.requested, .paired])
        #expect(stage.events.last == .paired(peer: peer, operation: nil, isBonded: true))
        #expect(stage.central.events.last == SecureStage.value(link))
    }

    /// Core Specification, Vol 3, Part H, 3.4: each message starts the 30 s anew.
    @Test func usersWhoTakeTheirTimeOneAfterTheOtherStillPair() async throws {
        let pair = try await ConnectedPair()
        let sink = CollectingSink<PairingEvent>()
        let agent = pair.emulator.makePairing()
        agent.activate(sink)
        agent.submit(.setCapability(.displayYesNo))
        let id = try pair.attributes.characteristic("C0D4")
        pair.central.submit(.setNotifying(link: pair.link, operation: op(1), attribute: id, enabled: true))
        try await pair.emulator.advance(by: .seconds(25))
        let asked = sink.events.compactMap { event -> PairingRequestID? in
            if case .requested(let request, _, _) = event { request } else { nil }
        }
        try #require(asked.count == 2)
        agent.submit(.answer(request: asked[0], answer: .accept))
        try await pair.emulator.advance(by: .seconds(25))
        #expect(!sink.events.contains { $0.kind == .pairingFailed })
        agent.submit(.answer(request: asked[1], answer: .accept))
        try await pair.emulator.advance(by: .seconds(1))
        #expect(
            pair.central.events.last == .notifyingChanged(link: pair.link, operation: op(1), isNotifying: true))
    }

    @Test func bothUsersCompareNumbers() async throws {
        let stage = try await SecureStage(PairingDescription(capability: .displayYesNo), agent: .displayYesNo)
        let link = try await stage.beginRead()
        guard case .confirm? = stage.question else { throw Unexpected("\(stage.events)") }
        try await stage.answer(.accept)
        #expect(stage.central.events.last == SecureStage.value(link))
    }

    @Test func dataOutOfBandIsAskedFor() async throws {
        let stage = try await SecureStage(PairingDescription(hasOutOfBandData: true), agent: .keyboardDisplay)
        let link = try await stage.beginRead()
        #expect(stage.question == .outOfBand)
        try await stage.answer(.accept)
        #expect(stage.central.events.last == SecureStage.value(link))
    }

    @Test func aDeviceThatWantsAuthenticationRefusesJustWorks() async throws {
        let stage = try await SecureStage(PairingDescription(requiresAuthentication: true), agent: .keyboardDisplay)
        let link = try await stage.beginRead()
        #expect(stage.failure == .operationNotSupported)
        #expect(stage.central.events.last == SecureStage.refused(link))
    }

    @Test func anAgentPairsWithADeviceThatIsNotConnected() async throws {
        let stage = try await SecureStage(agent: .noInputNoOutput)
        let peer = try await stage.central.find(stage.device)
        stage.agent.submit(.pair(peer: peer, operation: op(5)))
        try await stage.emulator.advance(by: .seconds(2))
        #expect(stage.events == [.paired(peer: peer, operation: op(5), isBonded: true)])
        #expect(stage.device.connectionCount == 0)
        stage.agent.submit(.pair(peer: PeerID(UUID()), operation: op(6)))
        try await stage.emulator.advance(by: .seconds(2))
        #expect(stage.failure == .unknownDevice)
    }

    @Test func pairingAgainOverAnEncryptedLinkIsDoneAtOnce() async throws {
        let stage = try await SecureStage(agent: .noInputNoOutput)
        _ = try await stage.beginRead()
        try await stage.answer(.accept)
        let peer = try stage.peer
        stage.agent.submit(.pair(peer: peer, operation: op(5)))
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.last == .paired(peer: peer, operation: op(5), isBonded: true))
    }

    @Test func aLinkThatEndsTakesItsPairingWithIt() async throws {
        let stage = try await SecureStage(agent: .displayYesNo)
        let link = try await stage.beginRead()
        stage.device.disconnect()
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.contains(.cancelled(request: PairingRequestID(rawValue: 1))))
        #expect(stage.failure == .peerDisconnected)
        guard case .disconnected(link, .remote, _, _)? = stage.central.events.last else {
            throw Unexpected("\(stage.central.events)")
        }
    }

    @Test func anAgentThatGoesRejects() async throws {
        let stage = try await SecureStage(agent: .displayYesNo)
        let link = try await stage.beginRead()
        stage.agent.invalidate()
        try await stage.emulator.runUntilIdle()
        #expect(stage.central.events.last == SecureStage.refused(link))
    }

    @Test func aDeviceMayAskForSecurityByItself() async throws {
        let stage = try await SecureStage(PairingDescription(requestsSecurity: true))
        _ = try await stage.central.connect(stage.device)
        #expect(stage.emulator.host.isBonded(with: stage.device))
    }

    /// Proves S117 and S129.
    @Test func S117_S129_aManagersProtectedAttributesPairBothHosts() async throws {
        let pair = try await ConnectedPair()
        let sink = CollectingSink<PairingEvent>()
        let agent = pair.emulator.makePairing()
        agent.activate(sink)
        agent.submit(.setCapability(.displayYesNo))
        let id = try pair.attributes.characteristic("C0D4")
        let count = pair.peripheral.events.count
        pair.central.submit(.setNotifying(link: pair.link, operation: op(1), attribute: id, enabled: true))
        try await pair.emulator.advance(by: .seconds(1))
        let asked = sink.events.compactMap { event -> PairingRequestID? in
            if case .requested(let request, _, .confirm) = event { request } else { nil }
        }
        #expect(asked.count == 2)
        #expect(pair.peripheral.events.count == count)
        for request in asked { agent.submit(.answer(request: request, answer: .accept)) }
        try await pair.emulator.advance(by: .seconds(1))
        #expect(
            pair.central.events.last == .notifyingChanged(link: pair.link, operation: op(1), isNotifying: true))
        guard case .subscribed(let central, attribute(6), _, _)? = pair.peripheral.events.last else {
            throw Unexpected("\(pair.peripheral.events)")
        }
        let peer = try #require(pair.device.identifier())
        #expect(
            sink.events.suffix(2) == [
                .paired(peer: peer, operation: nil, isBonded: true),
                .paired(peer: central, operation: nil, isBonded: true),
            ])
    }

    @Test func theMethodFollowsFromWhatBothCan() {
        func method(_ central: PairingCapability, _ peripheral: PairingCapability) -> PairingMethod {
            PairingMethod(central: central, peripheral: peripheral, hasOutOfBandData: false)
        }
        let all = PairingDescription.capabilities
        // By central, then by peripheral, in the order of the Core Specification.
        let works = PairingMethod.justWorks
        let compare = PairingMethod.numericComparison
        let shows = PairingMethod.passkey(shownBy: .central)
        let types = PairingMethod.passkey(shownBy: .peripheral)
        let both = PairingMethod.passkey(shownBy: nil)
        let table: [[PairingMethod]] = [
            [works, works, shows, works, shows],
            [works, compare, shows, works, compare],
            [types, types, both, works, types],
            [works, works, works, works, works],
            [types, compare, shows, works, compare],
        ]
        for (row, central) in all.enumerated() {
            for (column, peripheral) in all.enumerated() {
                #expect(method(central, peripheral) == table[row][column], "\(central) \(peripheral)")
            }
        }
        #expect(
            PairingMethod(central: .displayOnly, peripheral: .displayOnly, hasOutOfBandData: true) == .outOfBand)
    }
}
