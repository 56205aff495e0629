import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// The pairing of two sides, and the actions of their users.
@Suite struct PairingTests {
    @Test func S72_aProtectedAttributePairsAndTheReadIsTriedAgain() async throws {
        let fixture = try await SecureFixture(configuration: .default)
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
        let link = try await fixture.beginRead()
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.central.events.last == SecureFixture.value(link))
        #expect(fixture.emulator.host.isBonded(with: fixture.device))
    }

    @Test func S72_aRefusedPairingSurfacesTheCode() async throws {
        let fixture = try await SecureFixture(PairingDescription(answer: .reject))
        let link = try await fixture.beginRead()
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.central.events.last == SecureFixture.refused(link))
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
        // The next operation starts a new pairing.
        try fixture.device.setPairing(PairingDescription())
        let id = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        let events = try await fixture.central.run(.request(link: link, operation: op(1), .read(id)))
        #expect(events == [SecureFixture.value(link)])
    }

    /// A Linux system without an agent agrees to nothing.
    @Test(arguments: [PairingCapability.noInputNoOutput, nil])
    func aHostThatDoesNotAgreeNeedsAnAgent(agent: PairingCapability?) async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.agreesToPairing = false
        let fixture = try await SecureFixture(agent: agent, configuration: configuration)
        let link = try await fixture.beginRead()
        if agent != nil { try await fixture.answer(.accept) }
        #expect(fixture.central.events.last == (agent == nil ? SecureFixture.refused(link) : SecureFixture.value(link)))
        #expect(fixture.emulator.host.isBonded(with: fixture.device) == (agent != nil))
    }

    @Test func aDeviceThatNeverAnswersFailsAfter30SecondsAndForGood() async throws {
        let fixture = try await SecureFixture(PairingDescription(answer: .ignore))
        let link = try await fixture.beginRead()
        let count = fixture.central.events.count
        try await fixture.emulator.advance(by: .milliseconds(29_900))
        #expect(fixture.central.events.count == count)
        try await fixture.emulator.advance(by: .milliseconds(200))
        #expect(fixture.central.events.last == SecureFixture.refused(link))
        try fixture.device.setPairing(PairingDescription())
        let id = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        let events = try await fixture.central.run(.request(link: link, operation: op(1), .read(id)))
        #expect(events == [SecureFixture.refused(link)])
    }

    @Test(arguments: [true, false])
    func justWorksAsksTheUserForConsent(agrees: Bool) async throws {
        let fixture = try await SecureFixture(agent: .displayYesNo)
        let link = try await fixture.beginRead()
        let peer = try fixture.peer
        #expect(fixture.question == .consent)
        let count = fixture.central.events.count
        try await fixture.emulator.advance(by: .seconds(20))
        #expect(fixture.central.events.count == count)
        try await fixture.answer(agrees ? .accept : .reject)
        if agrees {
            #expect(fixture.events.last == .paired(peer: peer, operation: nil, isBonded: true))
        } else {
            #expect(fixture.failure == .operationCancelled)
        }
        #expect(fixture.central.events.last == (agrees ? SecureFixture.value(link) : SecureFixture.refused(link)))
    }

    @Test func aUserWhoNeverAnswersIsNotAskedAnyMoreAfter30Seconds() async throws {
        let fixture = try await SecureFixture(agent: .displayYesNo)
        let link = try await fixture.beginRead()
        try await fixture.emulator.advance(by: .seconds(31))
        #expect(fixture.events.contains(.cancelled(request: PairingRequestID(rawValue: 1))))
        #expect(fixture.failure == .encryptionTimedOut)
        #expect(fixture.central.events.last == SecureFixture.refused(link))
    }

    @Test(arguments: [123_456, 654_321])
    func thePasskeyThatTheDeviceShowsIsTypedAtTheHost(typed: Int) async throws {
        let fixture = try await SecureFixture(
            PairingDescription(capability: .displayOnly, passkey: 123_456), agent: .keyboardDisplay)
        let link = try await fixture.beginRead()
        #expect(fixture.question == .enterPasskey)
        try await fixture.answer(.passkey(typed))
        if typed == 123_456 {
            #expect(fixture.central.events.last == SecureFixture.value(link))
        } else {
            #expect(fixture.failure == .invalidParameters)
            #expect(fixture.central.events.last == SecureFixture.refused(link))
        }
    }

    @Test func thePasskeyThatTheHostShowsIsTypedAtTheDevice() async throws {
        let fixture = try await SecureFixture(PairingDescription(capability: .keyboardOnly), agent: .displayOnly)
        let link = try await fixture.beginRead()
        let peer = try fixture.peer
        guard case .display(let passkey)? = fixture.question else { throw Unexpected("\(fixture.events)") }
        #expect((0...999_999).contains(passkey))
        try await fixture.emulator.runUntilIdle()
        // The displayed number disappears with its pairing.
        #expect(fixture.events.map(\.kind) == [.requested, .paired])
        #expect(fixture.events.last == .paired(peer: peer, operation: nil, isBonded: true))
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    /// Core Specification, Vol 3, Part H, 3.4: each message restarts the 30 s.
    @Test func usersWhoTakeTheirTimeOneAfterTheOtherStillPair() async throws {
        let pair = try await ConnectedPair()
        let sink = CollectingSink<PairingEvent>()
        let agent = pair.emulator.makePairing()
        agent.activate(sink)
        agent.submit(.setCapability(.displayYesNo))
        let id = try pair.attributes.characteristic("C0D4")
        pair.central.submit(.request(link: pair.link, operation: op(1), .setNotifying(id, true)))
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
            pair.central.events.last == .response(link: pair.link, operation: op(1), .notifying(true)))
    }

    @Test func bothUsersCompareNumbers() async throws {
        let fixture = try await SecureFixture(PairingDescription(capability: .displayYesNo), agent: .displayYesNo)
        let link = try await fixture.beginRead()
        guard case .confirm? = fixture.question else { throw Unexpected("\(fixture.events)") }
        try await fixture.answer(.accept)
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    @Test func dataOutOfBandIsAskedFor() async throws {
        let fixture = try await SecureFixture(PairingDescription(hasOutOfBandData: true), agent: .keyboardDisplay)
        let link = try await fixture.beginRead()
        #expect(fixture.question == .outOfBand)
        try await fixture.answer(.accept)
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    @Test func aDeviceThatWantsAuthenticationRefusesJustWorks() async throws {
        let fixture = try await SecureFixture(PairingDescription(requiresAuthentication: true), agent: .keyboardDisplay)
        let link = try await fixture.beginRead()
        #expect(fixture.failure == .operationNotSupported)
        #expect(fixture.central.events.last == SecureFixture.refused(link))
    }

    @Test func anAgentPairsWithADeviceThatIsNotConnected() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        let peer = try await fixture.central.find(fixture.device)
        fixture.agent.submit(.pair(peer: peer, operation: op(5)))
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.events == [.paired(peer: peer, operation: op(5), isBonded: true)])
        #expect(fixture.device.connectionCount == 0)
        fixture.agent.submit(.pair(peer: PeerID(UUID()), operation: op(6)))
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.failure == .unknownDevice)
    }

    @Test func pairingAgainOverAnEncryptedLinkIsDoneAtOnce() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        _ = try await fixture.beginRead()
        try await fixture.answer(.accept)
        let peer = try fixture.peer
        fixture.agent.submit(.pair(peer: peer, operation: op(5)))
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.last == .paired(peer: peer, operation: op(5), isBonded: true))
    }

    @Test func aLinkThatEndsTakesItsPairingWithIt() async throws {
        let fixture = try await SecureFixture(agent: .displayYesNo)
        let link = try await fixture.beginRead()
        fixture.device.disconnect()
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.contains(.cancelled(request: PairingRequestID(rawValue: 1))))
        #expect(fixture.failure == .peerDisconnected)
        guard case .disconnected(link, .remote, _, _, _)? = fixture.central.events.last else {
            throw Unexpected("\(fixture.central.events)")
        }
    }

    @Test func anAgentThatGoesRejects() async throws {
        let fixture = try await SecureFixture(agent: .displayYesNo)
        let link = try await fixture.beginRead()
        fixture.agent.invalidate()
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.central.events.last == SecureFixture.refused(link))
    }

    @Test func anAgentThatGoesGivesUpThePairingThatItAskedFor() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        _ = try await fixture.beginPairingWithSilentDevice()
        try await fixture.emulator.advance(by: .seconds(1))
        fixture.agent.invalidate()
        fixture.device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.device.connectionCount == 0)
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
    }

    @Test func aPairingWaits20SecondsForThePeer() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        let peer = try await fixture.beginPairingWithSilentDevice()
        try await fixture.emulator.advance(by: .milliseconds(19_900))
        #expect(fixture.events.isEmpty)
        try await fixture.emulator.advance(by: .milliseconds(200))
        #expect(fixture.failure == .connectionFailed)
        fixture.device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.events.count == 1 && fixture.device.connectionCount == 0)
        // A later pairing has its own 20 seconds.
        fixture.agent.submit(.pair(peer: peer, operation: op(6)))
        try await fixture.emulator.advance(by: .seconds(30))
        #expect(fixture.events.last == .paired(peer: peer, operation: op(6), isBonded: true))
    }

    @Test(arguments: [true, false])
    func anAgentThatGoesEndsAPairingUnderWayThatNoOneElseNeeds(isNeeded: Bool) async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput, configuration: .default)
        let link = try await fixture.central.connect(fixture.device)
        let id = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        fixture.agent.submit(.pair(peer: try fixture.peer, operation: op(5)))
        if isNeeded { fixture.central.submit(.request(link: link, operation: op(1), .read(id))) }
        try await fixture.emulator.advance(by: .milliseconds(1))
        fixture.agent.invalidate()
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.emulator.host.isBonded(with: fixture.device) == isNeeded)
    }

    @Test func anAgentThatGoesLeavesThePairingToAnotherThatAskedForIt() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        let peer = try await fixture.central.find(fixture.device)
        let (other, sink) = (fixture.emulator.makePairing(), CollectingSink<PairingEvent>())
        other.activate(sink)
        other.submit(.setCapability(.noInputNoOutput))
        fixture.device.setAdvertising(false)
        for (agent, operation) in [(fixture.agent, op(5)), (other, op(6))] {
            agent.submit(.pair(peer: peer, operation: operation))
        }
        fixture.agent.invalidate()
        fixture.device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(sink.events == [.paired(peer: peer, operation: op(6), isBonded: true)])
        #expect(fixture.device.connectionCount == 0)
    }

    @Test func aRoleThatIsActivatedAfterItsEndKeepsNothing() {
        let agent = Emulator().makePairing()
        agent.invalidate()
        weak var released: CollectingSink<PairingEvent>?
        do {
            let sink = CollectingSink<PairingEvent>()
            released = sink
            agent.activate(sink)
        }
        #expect(released == nil)
    }

    @Test func aDeviceMayAskForSecurityByItself() async throws {
        let fixture = try await SecureFixture(PairingDescription(requestsSecurity: true))
        _ = try await fixture.central.connect(fixture.device)
        #expect(fixture.emulator.host.isBonded(with: fixture.device))
    }

    @Test func S117_S129_aManagersProtectedAttributesPairBothHosts() async throws {
        let pair = try await ConnectedPair()
        let sink = CollectingSink<PairingEvent>()
        let agent = pair.emulator.makePairing()
        agent.activate(sink)
        agent.submit(.setCapability(.displayYesNo))
        let id = try pair.attributes.characteristic("C0D4")
        let count = pair.peripheral.events.count
        pair.central.submit(.request(link: pair.link, operation: op(1), .setNotifying(id, true)))
        try await pair.emulator.advance(by: .seconds(1))
        let asked = sink.events.compactMap { event -> PairingRequestID? in
            if case .requested(let request, _, .confirm) = event { request } else { nil }
        }
        #expect(asked.count == 2)
        #expect(pair.peripheral.events.count == count)
        for request in asked { agent.submit(.answer(request: request, answer: .accept)) }
        try await pair.emulator.advance(by: .seconds(1))
        #expect(
            pair.central.events.last == .response(link: pair.link, operation: op(1), .notifying(true)))
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
        let all = PairingCapability.allCases
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
