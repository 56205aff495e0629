import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@testable import CoreBluetoothTesting

@Suite struct HistoryGeneratorTests {
    private let store = PeerID(UUID())

    private func generator(
        _ profile: RadioHistories.Profile = .all, rate: Double = 3, seed: UInt64 = 5, devices: [String] = ["Store"],
        messages: [CentralTraceMessage] = []
    ) -> HistoryGenerator {
        HistoryGenerator(
            seed: seed, profile: profile, rate: rate, devices: devices, hosts: ["default"], names: [store: "Store"],
            moments: HistoryMoments(messages))
    }

    private func steps(_ generator: HistoryGenerator, _ count: Int = 2000) -> [RadioHistory.Step] {
        (1...count).flatMap { generator.history($0, after: HistoryCoverage()).steps }
    }

    /// A write from 5.000 s to 5.060 s.
    private var write: [CentralTraceMessage] {
        let (link, operation) = (LinkID(rawValue: 1), OperationID(rawValue: 4))
        let request = LinkRequest.write(AttributeID(rawValue: 7), Data([1]))
        let parameters = LinkParameters(mtu: 185, writeCredits: 20)
        return [
            CentralTraceMessage(
                time: .seconds(4), manager: 1,
                content: .event(
                    .connected(
                        peer: store, link: link, operation: OperationID(rawValue: 1), parameters: parameters))),
            CentralTraceMessage(
                time: .milliseconds(5000), manager: 1,
                content: .command(.request(link: link, operation: operation, request))),
            CentralTraceMessage(
                time: .milliseconds(5060), manager: 1,
                content: .event(.response(link: link, operation: operation, .written))),
        ]
    }

    @Test func theSameSearchGeneratesTheSameHistories() {
        let (first, second) = (generator(), generator())
        for number in 1...100 {
            #expect(first.history(number, after: HistoryCoverage()) == second.history(number, after: HistoryCoverage()))
        }
        #expect(generator(seed: 6).history(1, after: HistoryCoverage()) != first.history(1, after: HistoryCoverage()))
    }

    @Test func aProfileLimitsTheIncidents() {
        let walking = Set(steps(generator(.walking)).map(\.incident.kind))
        #expect(walking == ["out of range", "far", "interference"])
        let host = Set(steps(generator(.flakyHost)).map(\.incident.kind))
        #expect(host == ["powered off", "unplugged", "service restarts"])
        let device = Set(steps(generator(.hostileDevice)).map(\.incident.kind))
        #expect(device.isDisjoint(with: walking.union(host)))
        #expect(device.isSuperset(of: ["loseAnswer", "delayAnswer", "corrupt", "disconnects", "restarts"]))
        #expect(Set(steps(generator(.twins)).map(\.incident.kind)) == ["twin"])
        #expect(Set(steps(generator(.usual)).map(\.incident.kind)) == walking.union(host).union(device))
        #expect(Set(steps(generator(.all)).map(\.incident.kind)) == walking.union(host).union(device).union(["twin"]))
    }

    @Test func theRateIsTheMeanNumberOfIncidents() {
        for rate in [1.0, 3.0] {
            let mean = Double(steps(generator(rate: rate), 4000).count) / 4000
            #expect((rate * 0.9...rate * 1.1).contains(mean), "\(mean)")
        }
    }

    @Test func aboutHalfOfTheIncidentsAreNearTheAppsRequests() {
        let steps = steps(generator(messages: write)).filter { $0.incident.kind != "twin" }
        let near = steps.count { (.milliseconds(4999)...Duration.milliseconds(5061)).contains($0.time) }
        #expect((0.4...0.6).contains(Double(near) / Double(steps.count)))
    }

    @Test func faultsConcernWhatTheFirstRunPerformed() {
        let faults = steps(generator(.hostileDevice, messages: write)).compactMap { step -> DeviceFault.Step? in
            switch step.incident {
            case .device(_, .fault(let fault)): fault.step
            case .device(_, .pause(let step)): step
            default: nil
            }
        }
        #expect(Set(faults) == [.write])
    }

    @Test func eachGeneratedFaultIsPossible() throws {
        for step in steps(generator()) {
            guard case .device(_, .fault(let fault)) = step.incident else { continue }
            let world = WorldDescription(
                devices: [PeripheralDescription(name: "Store")],
                script: [ScriptStep(at: .zero, .device("Store", .inject(fault)))])
            try world.validate()
        }
    }

    /// Otherwise a step that came after the incident would wait forever.
    @Test func noPauseOutlastsItsIncident() {
        let pause = RadioHistory.Incident.device("Store", .pause(.notify))
        let history = RadioHistory(
            seed: 1, steps: [RadioHistory.Step(time: .seconds(2), duration: .seconds(3), incident: pause)])
        #expect(
            history.script == [
                ScriptStep(at: .seconds(2), .device("Store", .inject(DeviceFault(.notify, .pause)))),
                ScriptStep(at: .seconds(5), .device("Store", .clearFaults)),
            ])
    }

    @Test func aWorldWithoutDevicesGetsIncidentsOfItsHostAndItsAir() {
        let kinds = Set(steps(generator(devices: [])).map(\.incident.kind))
        #expect(kinds.isSubset(of: ["powered off", "unplugged", "service restarts", "interference"]))
        #expect(!kinds.isEmpty)
    }
}
