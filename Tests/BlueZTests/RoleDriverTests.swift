#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch
import FoundationEssentials
import ScriptedBlueZ
import Synchronization
import Testing

@testable import BlueZ

/// Says twice what it hears, and causes another input in between.
private struct EchoMachine: RoleMachine {
    typealias Input = CentralRoleInput

    enum Effect {
        case say(String)
        case cause(CentralRoleInput)
        case startTimer(CentralTimer)
    }

    let rememberedPeers: Int? = nil

    static func concerns(_ change: ObjectModel.Change) -> Bool { true }

    func owner(of channel: ChannelID) -> HostLedger.Manager? { nil }
    mutating func remember(atLeast limit: Int) {}

    func handle(_ input: CentralRoleInput, at date: Date) -> [Effect] {
        switch input {
        case .pairingRefused(let peer): [.startTimer(.linkLoss(peer))]
        case .timer: [.say("timer")]
        case .channelEnded(let channel): [.say("\(channel.rawValue)"), .cause(.daemon(.phase(.ready))), .say("again")]
        default: [.say("caused")]
        }
    }
}

private final class EchoDriver: RoleDriver {
    let core: RoleDriverCore<EchoMachine>
    let said = Recorder<String>()

    init(_ daemon: BlueZDaemon) { core = RoleDriverCore(EchoMachine(), daemon: daemon) }

    func perform(_ effect: EchoMachine.Effect) {
        switch effect {
        case .say(let text): said.append(text)
        case .cause(let input): process(input)
        case .startTimer(let key): startTimer(key, .zero)
        }
    }
}

@Suite struct RoleDriverTests {
    private let daemon = BlueZDaemon(address: .explicit("unix:path=/nonexistent"), timings: BlueZTimings())

    @Test func whatAnEffectCausesComesAfterTheEffectsThatWereThere() {
        let radio = EchoDriver(daemon)
        daemon.queue.sync {
            radio.process(.channelEnded(ChannelID(rawValue: 1)))
            radio.process(.channelEnded(ChannelID(rawValue: 2)))
        }
        #expect(radio.said.elements == ["1", "again", "caused", "2", "again", "caused"])
    }

    @Test func aTimerThatHasFiredIsForgotten() async throws {
        let radio = EchoDriver(daemon)
        for _ in 0..<100 { daemon.queue.sync { radio.process(.pairingRefused(PeerID(UUID()))) } }
        try await radio.said.wait { $0.count == 100 }
        #expect(radio.core.contents.withLock { $0.timers.isEmpty })
    }

    @Test func whatIsToRunInTheTurnOfAnIdleDaemonRunsHereAndNow() {
        let order = Recorder<String>()
        daemon.run { [queue = daemon.queue] in
            dispatchPrecondition(condition: .onQueue(queue))
            order.append("first")
        }
        order.append("second")
        #expect(order.elements == ["first", "second"])
    }

    @Test func whatIsToRunInTheTurnOfTheDaemonThatHasItComesNext() {
        let order = Recorder<String>()
        daemon.run { [daemon] in
            daemon.run { order.append("second") }
            order.append("first")
        }
        daemon.queue.sync {}
        #expect(order.elements == ["first", "second"])
    }
}
#endif
