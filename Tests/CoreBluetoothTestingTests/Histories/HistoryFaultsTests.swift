import BluetoothBackend
import BluetoothInstrumentation
import BluetoothSupport
import CoreBluetooth
import Foundation
import Testing

@testable import CoreBluetoothTesting

/// The conversion of a history to the plan of a wrapper: pure, from traces of a few lines.
@Suite struct HistoryFaultsTests {
    // MARK: Traces

    private static func line(
        _ milliseconds: Int, _ direction: TraceEntry.Direction, _ text: String, operation: UInt64? = nil,
        _ attribute: String? = nil, central: Int = 1
    ) -> TraceEntry {
        var entry = TraceEntry(
            time: .milliseconds(milliseconds), direction: direction, category: .command, host: "default",
            source: "central \(central)", device: "Box", text: text)
        (entry.operation, entry.attribute) = (operation, attribute)
        return entry
    }

    private static func met(_ milliseconds: Int, _ text: String) -> TraceEntry {
        TraceEntry(
            time: .milliseconds(milliseconds), category: .note, device: "Box", text: "\"Box\": fault applied to \(text)"
        )
    }

    private static let connected = [
        line(100, .command, "connect", operation: 1), line(200, .event, "connected", operation: 1),
    ]
    /// A first read of the same characteristic, which succeeds, and one of another characteristic.
    private static let earlier = [
        line(210, .command, "read", operation: 2, "180D/2A38"),
        line(220, .event, "valueRead", operation: 2, "180D/2A38"),
        line(230, .command, "read", operation: 3, "180F/2A19"),
        line(240, .event, "valueRead", operation: 3, "180F/2A19"),
    ]
    private static let end = line(9000, .event, "disconnected link=1 reason=timeout isReconnecting=false")

    private func converted(
        _ incident: RadioHistory.Incident, at time: Duration = .zero, for duration: Duration = .zero,
        _ trace: [TraceEntry]
    ) throws -> [Fault] {
        let history = RadioHistory(
            seed: 7, steps: [RadioHistory.Step(time: time, duration: duration, incident: incident)])
        let faults = HistoryFaults(history, trace)
        #expect(faults.leftOut.isEmpty, "\(faults.leftOut.map(\.reason))")
        try faults.plan.validate()
        #expect(faults.plan.seed == 7)
        return faults.plan.faults
    }

    private func reason(
        _ incident: RadioHistory.Incident, at time: Duration = .zero, _ trace: [TraceEntry] = []
    ) -> String? {
        let history = RadioHistory(seed: 7, steps: [RadioHistory.Step(time: time, incident: incident)])
        let faults = HistoryFaults(history, trace)
        #expect(faults.plan.faults.isEmpty)
        return faults.leftOut.first?.reason
    }

    // MARK: Faults of requests

    private static let read = FaultPlace(.centralCommand(.read), characteristic: "2A38", manager: 1)
    private static let answer = FaultPlace(.centralEvent(.valueRead), characteristic: "2A38", manager: 1)
    private static let second = FaultTrigger.nth(number: 2)

    @Test(arguments: [
        (
            DeviceFault.Effect.fail(.readNotPermitted), "fail 2",
            Fault(read, second, .error(.att(0x02, operation: "read")))
        ),
        (.delay(.seconds(2)), "delay 2.0 seconds", Fault(read, second, .delay(by: .seconds(2)))),
        (.delay(.seconds(30)), "delay 30.0 seconds", Fault(read, second, .disconnect(reason: .timeout))),
        (.disconnect, "disconnect", Fault(read, second, .disconnect(reason: .remote))),
        (.loseAnswer, "loseAnswer", Fault(answer, second, .disconnect(reason: .timeout))),
        (.delayAnswer(.seconds(2)), "delayAnswer 2.0 seconds", Fault(answer, second, .delay(by: .seconds(2)))),
        (.delayAnswer(.seconds(60)), "delayAnswer 60.0 seconds", Fault(answer, second, .disconnect(reason: .timeout))),
        (.corrupt, "corrupt", Fault(answer, second, .corrupt)),
    ])
    func anEffectOnARequestConcernsItsCommandOrItsAnswer(
        _ effect: DeviceFault.Effect, _ text: String, _ fault: Fault
    ) throws {
        let trace =
            Self.connected + Self.earlier
            + [Self.line(300, .command, "read", operation: 4, "180D/2A38"), Self.met(350, "read: \(text)")]
        let incident = RadioHistory.Incident.device("Box", .fault(DeviceFault(.read, effect)))
        #expect(try converted(incident, trace) == [fault])
    }

    @Test func aPauseIsADelayUntilItsEnd() throws {
        let trace =
            Self.connected + [
                Self.line(300, .command, "read", operation: 4, "180D/2A38"), Self.met(350, "read: pause"),
            ]
        let faults = try converted(.device("Box", .pause(.read)), at: .milliseconds(100), for: .seconds(1), trace)
        #expect(faults == [Fault(Self.read, .once, .delay(by: .milliseconds(750)))])
    }

    @Test func lostAnswersBeforeAnotherCount() throws {
        let trace =
            Self.connected
            + [
                Self.line(300, .command, "read", operation: 4, "180D/2A38"), Self.met(350, "read: loseAnswer"),
                Self.end,
                Self.line(9100, .command, "connect", operation: 5), Self.line(9200, .event, "connected", operation: 5),
                Self.line(9300, .command, "read", operation: 6, "180D/2A38"), Self.met(9350, "read: loseAnswer"),
            ]
        let step = RadioHistory.Step(time: .zero, incident: .device("Box", .fault(DeviceFault(.read, .loseAnswer))))
        let faults = HistoryFaults(RadioHistory(seed: 7, steps: [step, step]), trace)
        #expect(faults.plan.faults.map(\.trigger) == [.once, Self.second])
        #expect(faults.leftOut.isEmpty)
    }

    @Test func theManagerIsThatOfTheCommand() throws {
        let trace = [
            Self.line(300, .command, "write", operation: 4, "180D/2A39", central: 3),
            Self.met(350, "write: loseAnswer"),
        ]
        let faults = try converted(.device("Box", .fault(DeviceFault(.write, .loseAnswer))), trace)
        let place = FaultPlace(.centralEvent(.written), characteristic: "2A39", manager: 3)
        #expect(faults == [Fault(place, .once, .disconnect(reason: .timeout))])
    }

    @Test(arguments: [
        (
            DeviceFault.Effect.fail(), "fail 14",
            FaultEffect.error(BackendError(.connectionFailed, operation: "connect"))
        ),
        (.disconnect, "disconnect", .error(BackendError(.connectionFailed, operation: "connect"))),
        (.delay(.seconds(40)), "delay 40.0 seconds", .delay(by: .seconds(40))),
    ])
    func aConnectFailsOrIsLate(_ effect: DeviceFault.Effect, _ text: String, _ expected: FaultEffect) throws {
        let trace = [Self.connected[0], Self.met(150, "connect: \(text)")]
        let faults = try converted(.device("Box", .fault(DeviceFault(.connect, effect))), trace)
        #expect(faults == [Fault(FaultPlace(.centralCommand(.connect), manager: 1), .once, expected)])
    }

    @Test func aConnectWhoseLinkIsLostAtOnceIsItsEvent() throws {
        let trace = [Self.connected[0], Self.met(150, "connect: loseAnswer"), Self.connected[1]]
        let faults = try converted(.device("Box", .fault(DeviceFault(.connect, .loseAnswer))), trace)
        let place = FaultPlace(.centralEvent(.connected), manager: 1)
        #expect(faults == [Fault(place, .once, .disconnect(reason: .timeout))])
    }

    @Test(arguments: [
        (
            DeviceFault.Effect.fail(), "fail 14",
            Fault(
                FaultPlace(.centralCommand(.writeCommand), characteristic: "2A39", manager: 1), .nth(number: 2), .drop)
        ),
        (
            .loseAnswer, "loseAnswer",
            Fault(FaultPlace(.centralEvent(.writeCredits), manager: 1), .once, .disconnect(reason: .timeout))
        ),
    ])
    func aWriteCommandIsLostOrIsTheLast(_ effect: DeviceFault.Effect, _ text: String, _ fault: Fault) throws {
        let trace =
            Self.connected
            + [
                Self.line(300, .command, "writeCommand", "180D/2A39"),
                Self.line(300, .command, "writeCommand", "180D/2A39"),
                Self.line(300, .command, "writeCommand", "180D/2A39"), Self.met(330, "writeCommand: \(text)"),
            ]
        let incident = RadioHistory.Incident.device("Box", .fault(DeviceFault(.writeCommand, effect, skip: 1)))
        #expect(try converted(incident, trace) == [fault])
    }

    // MARK: Notifications

    private static let subscribed = [
        line(300, .command, "setNotifying", operation: 4, "180D/2A37"),
        line(310, .event, "notifyingChanged", operation: 4, "180D/2A37"),
        line(320, .event, "valueNotified", "180D/2A37"),
    ]
    private static let value = FaultPlace(.centralEvent(.valueNotified), characteristic: "2A37", manager: 1)

    @Test(arguments: [
        (DeviceFault.Effect.fail(), "fail 14", FaultEffect.drop),
        (.disconnect, "disconnect", .disconnect(reason: .remote)),
        (.delay(.seconds(2)), "delay 2.0 seconds", .delay(by: .seconds(2))), (.corrupt, "corrupt", .corrupt),
    ])
    func anEffectOnANotificationConcernsItsEvent(
        _ effect: DeviceFault.Effect, _ text: String, _ expected: FaultEffect
    ) throws {
        let comes = effect == .corrupt || effect == .delay(.seconds(2))
        let trace =
            Self.connected + Self.subscribed + [Self.met(400, "notify: \(text)")]
            + (comes ? [Self.line(450, .event, "valueNotified", "180D/2A37")] : [])
        let faults = try converted(.device("Box", .fault(DeviceFault(.notify, effect))), trace)
        #expect(faults == [Fault(Self.value, Self.second, expected)])
    }

    // MARK: Ends of links

    @Test func aLinkEndsWithTheFirstCommandThatWasLost() throws {
        let trace =
            Self.connected + Self.earlier
            + [
                Self.line(600, .command, "read", operation: 4, "180D/2A38"),
                Self.line(700, .command, "read", operation: 5, "180D/2A38"), Self.end,
            ]
        for incident in [RadioHistory.DeviceIncident.outOfRange, .resets, .disconnects] {
            let faults = try converted(.device("Box", incident), at: .milliseconds(500), trace)
            #expect(faults == [Fault(Self.read, Self.second, .disconnect(reason: .timeout))])
        }
    }

    @Test func aLinkEndsWithTheAnswerToAnEarlierRequest() throws {
        let trace =
            Self.connected + Self.earlier + [Self.line(300, .command, "read", operation: 4, "180D/2A38"), Self.end]
        let faults = try converted(.device("Box", .outOfRange), at: .milliseconds(350), trace)
        #expect(faults == [Fault(Self.answer, Self.second, .disconnect(reason: .timeout))])
    }

    @Test func anIdleLinkEndsWithItsNextNotification() throws {
        let faults = try converted(
            .device("Box", .resets), at: .milliseconds(500), Self.connected + Self.subscribed + [Self.end])
        #expect(faults == [Fault(Self.value, Self.second, .disconnect(reason: .timeout))])
    }

    // MARK: What is left out

    @Test(arguments: [
        (RadioHistory.Incident.interference(0.5), "not packets"), (.twin(of: "Box"), "no device"),
        (.host("default", .poweredOff), "adapter's state"), (.host("default", .unplugged), "adapter's state"),
        (.host("default", .resetting), "adapter's state"), (.device("Box", .far), "signal"),
        (.device("Box", .silent), "advertising"), (.device("Box", .rotatesAddress), "address"),
        (.device("Box", .outOfRange), "ended no link"),
        (.device("Box", .fault(DeviceFault(.pair, .fail()))), "pairing passes unchanged"),
        (.device("Box", .fault(DeviceFault(.read, .fail()))), "no message met it"),
    ])
    func aStepWithoutCounterpartIsLeftOutWithAReason(_ incident: RadioHistory.Incident, _ part: String) {
        #expect(reason(incident)?.contains(part) == true)
    }

    @Test func anIdleLinkThatReceivesNothingIsLeftOut() {
        let end = reason(.device("Box", .resets), at: .milliseconds(500), Self.connected + Self.earlier + [Self.end])
        #expect(end == "no message met the end of the link")
    }

    @Test func aLinkThatTheAppEndsItselfIsLeftOut() {
        let trace = Self.connected + [Self.line(600, .command, "disconnect"), Self.end]
        #expect(reason(.device("Box", .outOfRange), at: .milliseconds(500), trace) == "it ended no link of the app")
    }
}
