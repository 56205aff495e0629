import BluetoothEmulator
import Testing

@testable import CoreBluetoothTesting

@Suite struct HistoryShrinkerTests {
    private typealias Step = RadioHistory.Step

    private func shrunk(
        _ steps: [RadioHistory.Step], whileFailing fails: (RadioHistory) -> Bool
    ) -> (RadioHistory, runs: Int) {
        var shrinker = HistoryShrinker(RadioHistory(seed: 7, steps: steps))
        while let candidate = shrinker.next() {
            if fails(candidate) { shrinker.fails() }
        }
        return (shrinker.simplest, shrinker.runs)
    }

    private func step(
        _ seconds: Double, for length: Double = 0, _ incident: RadioHistory.DeviceIncident
    ) -> RadioHistory.Step {
        RadioHistory.Step(time: .seconds(seconds), duration: .seconds(length), incident: .device("Store", incident))
    }

    @Test func onlyTheStepsThatMatterRemain() {
        let culprit = step(3, .disconnects)
        let others = (0..<10).map { step(Double($0) / 2, .resets) }
        let (simplest, _) = shrunk(others + [culprit]) { $0.steps.contains(culprit) }
        #expect(simplest.steps == [culprit])
        #expect(simplest.seed == 7)
    }

    @Test func twoStepsThatMatterTogetherRemain() {
        let (simplest, _) = shrunk((1...8).map { step(Double($0), $0 % 4 == 0 ? .disconnects : .resets) }) {
            $0.steps.count { $0.incident == .device("Store", .disconnects) } == 2
        }
        #expect(simplest.steps.map(\.incident) == [.device("Store", .disconnects), .device("Store", .disconnects)])
    }

    @Test func aStepBecomesEarlierAndShorterAsFarAsItStillFails() {
        let (simplest, _) = shrunk([step(17.345_678, for: 26.543, .outOfRange)]) { history in
            history.steps.allSatisfy {
                $0.time >= .seconds(2) && $0.duration >= .milliseconds(1500)
                    && $0.incident == .device("Store", .outOfRange)
            }
        }
        #expect(simplest.steps.map(\.time) == [.seconds(2)])
        #expect(simplest.steps.allSatisfy { $0.duration < .seconds(2) })
    }

    @Test func aFaultBecomesMilder() {
        let fault = DeviceFault(.write, .delayAnswer(.seconds(60)), skip: 2)
        let (simplest, _) = shrunk([step(0, .fault(fault))]) { history in
            guard case .device(_, .fault(let fault)) = history.steps.first?.incident,
                case .delayAnswer(let time) = fault.effect
            else { return false }
            return time >= .seconds(30) && fault.skip >= 1
        }
        #expect(simplest.steps == [step(0, .fault(DeviceFault(.write, .delayAnswer(.seconds(30)), skip: 1)))])
    }

    @Test func theNumberOfRunsHasALimit() {
        var candidates = 0
        let (_, runs) = shrunk((0..<12).map { step(1000 + Double($0) / 7, for: 59.999, .outOfRange) }) { _ in
            candidates += 1
            return candidates % 3 == 0
        }
        #expect(runs == candidates)
        #expect(runs <= HistoryShrinker.limit)
    }
}
