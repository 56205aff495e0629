#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// Questions of consent during another request of the agent.
extension PairingRoleMachineTests {
    /// A request of the agent that the daemon has not answered.
    enum InFlight: CaseIterable {
        case nothing, pairing, unpairing, pairingOfAnother, unpairingOfAnother
    }

    static let questions: [PairingQuestion] = [.consent, .enterPasskey, .confirm(passkey: 1), .display(passkey: 1)]

    /// Creates an agent, with a request in flight.
    private mutating func makeAgent(with inFlight: InFlight) throws {
        let path = CentralRoleFixture.path("/org/bluez/hci0/dev_00_00_00_00_00_01")
        let flag = DBusValue.boolean(true)
        let object = CentralRoleFixture.deviceObject(
            address: "00:00:00:00:00:01", ["Paired": flag, "Connected": flag])
        receive(.interfacesAdded(path, object))
        let other = try #require(objects.peer(at: path))
        makeAgent()
        let operation = OperationID(rawValue: 9)
        switch inFlight {
        case .nothing: break
        case .pairing: input(.command(1, .pair(peer: peer, operation: operation)))
        case .unpairing:
            setPaired(true)
            input(.command(1, .unpair(peer: peer, operation: operation)))
        case .pairingOfAnother:
            set(["Paired": .boolean(false)], of: path)
            input(.command(1, .pair(peer: other, operation: operation)))
        case .unpairingOfAnother: input(.command(1, .unpair(peer: other, operation: operation)))
        }
        #expect(members == inFlight.members)
        events = [:]
    }

    @Test(arguments: InFlight.allCases, questions)
    mutating func consentIsGivenUnaskedOnlyToThePairingThatTheAgentAskedFor(
        inFlight: InFlight, question: PairingQuestion
    ) throws {
        try makeAgent(with: inFlight)
        let call = ask(question)
        let isGiven = question == .consent && inFlight == .pairing
        #expect((events[1] ?? []).map(\.kind) == (isGiven ? [] : [.requested]))
        let isShown = if case .display = question { true } else { false }
        #expect(answers[call] == (isGiven || isShown ? .accept : nil))
    }

    @Test(arguments: InFlight.allCases, questions)
    mutating func aDeviceThatThisProcessHasNothingToDoWithIsRefusedUnlessItIsBeingPaired(
        inFlight: InFlight, question: PairingQuestion
    ) throws {
        try makeAgent(with: inFlight)
        isNeeded = false
        let call = ask(question)
        #expect((answers[call] == .reject) == (inFlight != .pairing))
        #expect(events[1] == nil || inFlight == .pairing)
    }

    @Test(arguments: InFlight.allCases)
    mutating func whatIsInFlightAuthorizesNoServiceAndGivesNoPINCode(inFlight: InFlight) throws {
        try makeAgent(with: inFlight)
        let service = ask("AuthorizeService", .string("00001124-0000-1000-8000-00805f9b34fb"))
        let pin = ask("RequestPinCode")
        #expect(answers[service] == .reject && answers[pin] == .reject && events[1] == nil)
    }

    @Test mutating func aPairingWhileTheBondIsBeingRemovedIsReported() throws {
        try makeAgent(with: .unpairing)
        let call = ask(.consent)
        input(.command(1, .answer(request: try request(), answer: .accept)))
        #expect(answers[call] == .accept)
        setPaired(false)
        setPaired(true)
        #expect(events[1]?.last == .paired(peer: peer, operation: nil, isBonded: true))
        #expect(events[1]?.map(\.kind) == [.requested, .paired], "the reply reports the end of the bond")
    }
}

extension PairingRoleMachineTests.InFlight {
    /// The call without an answer of the daemon.
    fileprivate var members: [String] {
        switch self {
        case .nothing: []
        case .pairing, .pairingOfAnother: ["Pair"]
        case .unpairing, .unpairingOfAnother: ["RemoveDevice"]
        }
    }
}
#endif
