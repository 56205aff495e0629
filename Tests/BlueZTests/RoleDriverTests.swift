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

/// A machine that logs each input twice, and causes another input in between, represented by a refresh.
private struct EchoMachine: RoleMachine {
    typealias Input = CentralRoleInput
    typealias Manager = CentralRoleMachine.Manager

    let objects: ObjectModel
    var managers: [HostLedger.Manager: Manager] = [:]
    var outputs = RoleOutputs<CentralRoleEffect, Void>()

    static func concerns(_ change: ObjectModel.Change) -> Bool { true }

    func handle(_ input: CentralRoleInput, at date: Date) -> [CentralRoleEffect] {
        switch input {
        case .pairingRefused(let peer): [.startTimer(.link(peer, .linkLoss), .zero)]
        case .timer: [Self.say("timer")]
        case .channelEnded(let channel): [Self.say("\(channel.rawValue)"), .refresh, Self.say("again")]
        default: [Self.say("caused")]
        }
    }

    private static func say(_ text: String) -> CentralRoleEffect { .log(LogMessage(level: .debug, text: text)) }
}

private final class EchoDriver: RoleDriver {
    let core: RoleDriverCore<EchoMachine>
    let said = Recorder<String>()

    init(_ daemon: BlueZDaemon) {
        core = RoleDriverCore(EchoMachine(objects: daemon.objects), daemon: daemon)
    }

    func perform(_ effect: CentralRoleEffect) {
        switch effect {
        case .log(let message): said.append(message.text)
        case .refresh: process(.daemon(.phase(.ready)))
        case .startTimer(let key, let delay): startTimer(key, delay)
        default: break
        }
    }
}

@Suite struct RoleDriverTests {
    private let daemon = BlueZDaemon(address: .explicit("unix:path=/nonexistent"), timings: BlueZTimings())

    @Test func whatAnEffectCausesComesAfterTheEffectsThatWereThere() {
        let driver = EchoDriver(daemon)
        daemon.queue.sync {
            driver.process(.channelEnded(ChannelID(rawValue: 1)))
            driver.process(.channelEnded(ChannelID(rawValue: 2)))
        }
        #expect(driver.said.elements == ["1", "again", "caused", "2", "again", "caused"])
    }

    @Test func aTimerThatHasFiredIsForgotten() async throws {
        let driver = EchoDriver(daemon)
        for _ in 0..<100 { daemon.queue.sync { driver.process(.pairingRefused(PeerID(UUID()))) } }
        try await driver.said.wait { $0.count == 100 }
        #expect(daemon.queue.sync { driver.core.contents.timers.isEmpty })
    }

    @Test func aManagerThatIsReleasedBeforeItsActivationRanLeavesNothing() {
        let driver = EchoDriver(daemon)
        // Both inputs wait for the queue.
        daemon.queue.suspend()
        let manager = driver.newManager()
        driver.activate(manager, EventRecorder())
        driver.invalidate(manager)
        daemon.queue.resume()
        daemon.queue.sync {}
        #expect(driver.core.managers.withLock { $0.sinks.isEmpty })
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
