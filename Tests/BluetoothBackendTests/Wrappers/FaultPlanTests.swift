import BluetoothBackend
import BluetoothInstrumentation
import FoundationEssentials
import Testing

/// Plans as data, and invalid plans.
struct FaultPlanTests {
    @Test func aPlanSurvivesJSON() throws {
        let place = FaultPlace(.centralEvent(.valueNotified), characteristic: "2A37", peer: Samples.peer, manager: 2)
        let effects: [FaultEffect] = [
            .error(Samples.error), .delay(by: .milliseconds(1500)), .drop, .corrupt, .duplicate,
            .disconnect(reason: .timeout),
        ]
        let triggers: [FaultTrigger] = [
            .once, .nth(number: 3), .rate(probability: 0.5), .after(time: .seconds(2)),
        ]
        let plan = FaultPlan(
            seed: 99, faults: effects.flatMap { effect in triggers.map { Fault(place, $0, effect) } })
        #expect(try JSONDecoder().decode(FaultPlan.self, from: JSONEncoder().encode(plan)) == plan)
    }

    @Test func aPlanIsReadable() throws {
        let json = """
            {"seed": 7, "faults": [{"where": {"kind": "centralCommand.read", "characteristic": "2A19"},
              "when": {"nth": 2}, "what": "drop"}]}
            """
        #expect(
            try JSONDecoder().decode(FaultPlan.self, from: Data(json.utf8))
                == FaultPlan(
                    seed: 7,
                    faults: [
                        Fault(
                            FaultPlace(.centralCommand(.read), characteristic: "2A19"), .nth(number: 2), .drop)
                    ]))
    }

    @Test func triggersAndEffectsAreWordsAndTimesHaveUnits() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func json(_ value: some Encodable) throws -> String {
            String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        let triggers: [FaultTrigger] = [
            .once, .nth(number: 2), .rate(probability: 0.5), .after(time: .seconds(90)),
        ]
        #expect(try triggers.map(json) == [#""once""#, #"{"nth":2}"#, #"{"rate":0.5}"#, #"{"after":"90 s"}"#])
        let effects: [FaultEffect] = [.drop, .delay(by: .milliseconds(1500)), .disconnect(reason: .timeout)]
        #expect(try effects.map(json) == [#""drop""#, #"{"delay":"1500 ms"}"#, #"{"disconnect":"timeout"}"#])
    }

    @Test(arguments: [Int64.max, .min]) func aTimeBeyondTheLimitIsWrittenAsTheLimit(seconds: Int64) throws {
        let text = String(decoding: try JSONEncoder().encode(FaultEffect.delay(by: .seconds(seconds))), as: UTF8.self)
        #expect(text == #"{"delay":"\#(seconds < 0 ? "-" : "")2305843009213694.0 us"}"#)
    }

    @Test(arguments: ["read", "centralCommand.", "centralCommand.valueRead", "centralEvent.valueRead.x", "x.read", ""])
    func otherTextNamesNoKind(_ text: String) {
        #expect(FaultKind(text) == nil)
    }

    @Test func eachKindIsItsText() {
        let kinds =
            CentralCommand.Kind.allCases.map(FaultKind.centralCommand)
            + CentralEvent.Kind.allCases.map(FaultKind.centralEvent)
            + PeripheralCommand.Kind.allCases.map(FaultKind.peripheralCommand)
            + PeripheralEvent.Kind.allCases.map(FaultKind.peripheralEvent)
        for kind in kinds { #expect(FaultKind(kind.description) == kind) }
        #expect(Set(kinds.map(\.description)).count == kinds.count)
    }

    @Test(arguments: [
        (Fault(FaultPlace(.centralEvent(.stateChanged)), .once, .drop), "always passed on"),
        (Fault(FaultPlace(.centralEvent(.disconnected)), .once, .drop), "cannot be lost"),
        (Fault(FaultPlace(.centralCommand(.startScan)), .once, .error(Samples.error)), "no operation"),
        (Fault(FaultPlace(.centralCommand(.read)), .once, .corrupt), "carries no value"),
        (Fault(FaultPlace(.centralEvent(.connected)), .once, .duplicate), "cannot come twice"),
        (Fault(FaultPlace(.centralCommand(.connect)), .once, .disconnect(reason: .remote)), "not on a link"),
        (Fault(FaultPlace(.centralCommand(.read)), .nth(number: 0), .drop), "nth counts from 1"),
        (Fault(FaultPlace(.centralCommand(.read)), .rate(probability: 1.5), .drop), "from 0 to 1"),
        (Fault(FaultPlace(.centralCommand(.read)), .after(time: .seconds(-1)), .drop), "time is not negative"),
        (Fault(FaultPlace(.centralCommand(.read)), .once, .delay(by: .seconds(-1))), "delay is not negative"),
        (Fault(FaultPlace(.centralCommand(.connect), characteristic: "2A37"), .once, .drop), "not about a char"),
        (Fault(FaultPlace(.centralCommand(.stopScan), peer: Samples.peer), .once, .drop), "not about a peer"),
        (Fault(FaultPlace(.centralCommand(.read), manager: 0), .once, .drop), "managers count from 1"),
    ])
    func aFaultThatCannotHappenIsRefused(_ fault: Fault, _ rule: String) {
        let fine = Fault(FaultPlace(.centralCommand(.read)), .once, .drop)
        let error = #expect(throws: FaultPlanError.self) {
            try FaultInjectingBackend(around: TestBackend(), plan: FaultPlan(faults: [fine, fault]))
        }
        #expect(error?.index == 1)
        #expect(error?.description.contains(rule) == true)
    }
}
