import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator
@testable import CoreBluetoothClasses

/// Random programs of API calls and backend events, from a seed.
@Suite struct PeripheralProgramTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func S126_S136_S137_whateverHappensEachCallIsAnsweredOnce(seed: UInt64) {
        var program = PeripheralProgram(seed: seed)
        for _ in 0..<300 where program.violations.isEmpty { program.step() }
        program.finish()
        #expect(program.violations == [], "seed \(seed), after \(program.history.suffix(20))")
        #expect(program.history.count > 200)
    }
}

/// A machine with its invariants: each request and each addition is answered once or ended by the state, no value is
/// sent without a credit or to a central that does not subscribe, and "ready" arrives at most once for each update,
/// sent or refused.
private struct PeripheralProgram {
    private(set) var violations: [String] = []
    private(set) var history: [String] = []

    private var random: SeededGenerator
    private var machine = PeripheralStateMachine()
    private var lastRequest: UInt64 = 0
    /// The requests that wait for the delegate's answer.
    private var open: Set<RequestID> = []
    private var answered: Set<RequestID> = []
    /// The calls of `add` that the backend has still to answer.
    private var additions: Set<OperationID> = []
    private var unanswered: [OperationID] = []
    private var completions: [PeripheralCompletion] = []
    private var credits: [PeerID: Int] = [:]
    private var subscriptions: Set<Subscription> = []
    /// The number of calls of "ready" that may follow.
    private var announcements = 0

    private struct Subscription: Hashable {
        let central: PeerID
        let attribute: AttributeID
    }

    private let centrals = [PeripheralMachineFixture.central, PeripheralMachineFixture.other]
    /// Services 10, 20, 30 with two characteristics each.
    private let services: [UInt] = [10, 20, 30]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed, stream: "peripheral program")
        run("power on") { $0.handle(.stateChanged(.poweredOn)) }
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: add(pick(services))
        case 12..<15: run("remove") { [key = pick(services)] in $0.remove(ObjectKey(rawValue: key)) }
        case 15..<16: run("remove all") { $0.removeAllServices() }
        case 16..<28: answerAddition()
        case 28..<34: complete()
        case 34..<46: subscribe()
        case 46..<52: unsubscribe()
        case 52..<62: grant()
        case 62..<74: update()
        case 74..<84: request()
        case 84..<95: respond()
        case 95..<97: expire()
        default: power()
        }
    }

    /// Answers all open requests and additions.
    mutating func finish() {
        run("power on") { $0.handle(.stateChanged(.poweredOn)) }
        while !completions.isEmpty { complete() }
        while !unanswered.isEmpty { answerAddition() }
        for id in open.sorted() { respond(to: id) }
        if !additions.isEmpty { violations.append("additions without an answer: \(additions)") }
        if !open.isEmpty { violations.append("requests without an answer: \(open)") }
        if !machine.requests.isEmpty { violations.append("the machine waits for \(machine.requests)") }
    }

    // MARK: Steps

    private mutating func add(_ key: UInt) {
        let included = key > 10 && Bool.random(using: &random) ? [key - 10] : []
        let service = PeripheralMachineFixture.service(
            key, included: included,
            characteristics: [
                PeripheralMachineFixture.characteristic(key + 1), PeripheralMachineFixture.characteristic(key + 2),
            ])
        var operation: OperationID?
        run("add \(key) \(included)") { machine in
            let addition = machine.add(service)
            operation = addition.operation
            return addition.effects
        }
        if let operation { additions.insert(operation) }
    }

    private mutating func answerAddition() {
        guard !unanswered.isEmpty else { return }
        let operation = unanswered.remove(at: Int.random(in: unanswered.indices, using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 {
            let error = BackendError(.outOfSpace, operation: "add")
            run("fail \(operation)") { $0.handle(.operationFailed(operation: operation, error: error)) }
        } else {
            run("added \(operation)") { $0.handle(.serviceAdded(operation: operation)) }
        }
    }

    private mutating func complete() {
        guard !completions.isEmpty else { return }
        let completion = completions.removeFirst()
        run("complete \(completion)") { $0.handle(completion) }
    }

    private mutating func attribute() -> AttributeID {
        let key = pick(services) + UInt.random(in: 1...2, using: &random)
        return machine.database[ObjectKey(rawValue: key)] ?? AttributeID(rawValue: 0)
    }

    private mutating func subscribe() {
        let (central, attribute) = (pick(centrals), attribute())
        let count = Int.random(in: 0..<3, using: &random)
        if machine.database.characteristic(attribute) != nil && machine.state == .poweredOn {
            credits[central, default: 0] += count
            subscriptions.insert(Subscription(central: central, attribute: attribute))
        }
        run("subscribe \(central) \(attribute)") {
            $0.handle(.subscribed(central: central, attribute: attribute, mtu: 23, notifyCredits: count))
        }
    }

    private mutating func unsubscribe() {
        guard let old = subscriptions.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random) else { return }
        end(old)
        run("unsubscribe \(old)") { $0.handle(.unsubscribed(central: old.central, attribute: old.attribute)) }
    }

    private mutating func end(_ old: Subscription) {
        subscriptions.remove(old)
        if !subscriptions.contains(where: { $0.central == old.central }) { credits[old.central] = nil }
    }

    private mutating func grant() {
        let central = pick(centrals)
        if credits[central] != nil { credits[central, default: 0] += 1 }
        run("grant \(central)") { $0.handle(.notifyCredits(central: central, count: 1)) }
    }

    private mutating func update() {
        let key = pick(services) + 1
        let targets: Set<PeerID>? = Bool.random(using: &random) ? nil : [pick(centrals)]
        run("update \(key)") { machine in
            machine.updateValue(Data([1]), of: ObjectKey(rawValue: key), "FFF1", to: targets).effects
        }
        announcements += 1
    }

    private mutating func request() {
        lastRequest += 1
        let (id, central, attribute) = (RequestID(rawValue: lastRequest), pick(centrals), attribute())
        let isRead = Bool.random(using: &random)
        if machine.state == .poweredOn { open.insert(id) }
        run("request \(id)") { machine in
            if isRead {
                return machine.handle(
                    .readRequested(request: id, central: central, attribute: attribute, offset: 0, mtu: 23))
            }
            let parts = [WritePart(attribute: attribute, offset: 0, value: Data([1]))]
            return machine.handle(
                .writeRequested(request: id, central: central, mtu: 23, wantsResponse: true, parts: parts))
        }
    }

    private mutating func respond() {
        guard lastRequest > 0 else { return }
        respond(to: RequestID(rawValue: UInt64.random(in: 1...lastRequest, using: &random)))
    }

    private mutating func respond(to id: RequestID) {
        let wasOpen = open.contains(id) && machine.state == .poweredOn
        let before = answered.count
        run("respond \(id)") { $0.respond(to: id, part: 0, attCode: 0, value: nil) }
        if (answered.count > before) != wasOpen { violations.append("request \(id): open \(wasOpen), but answered") }
    }

    private mutating func expire() {
        guard let id = open.sorted().randomElement(using: &random) else { return }
        open.remove(id)
        run("expire \(id)") { $0.handle(.requestExpired(request: id)) }
    }

    private mutating func power() {
        let state = pick([AdapterState.poweredOn, .poweredOn, .poweredOff, .resetting])
        if machine.state == .poweredOn && state != .poweredOn {
            open = []
            unanswered = []
            subscriptions = []
            credits = [:]
            announcements = 0
        }
        run("\(state)") { $0.handle(.stateChanged(state)) }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    // MARK: Invariants

    private mutating func run(_ text: String, _ body: (inout PeripheralStateMachine) -> [PeripheralEffect]) {
        history.append(text)
        let effects = body(&machine)
        for effect in effects { check(effect) }
        // Characteristics that left the database have no subscribers.
        for old in subscriptions where machine.database.characteristic(old.attribute) == nil { end(old) }
    }

    private mutating func check(_ effect: PeripheralEffect) {
        switch effect {
        case .submit(.respond(let id, _, _)):
            if open.remove(id) == nil || !answered.insert(id).inserted { violations.append("\(id) is answered again") }
        case .submit(.addService(let operation, _)): unanswered.append(operation)
        case .submit(.updateValue(let attribute, _, let targets)): spend(targets ?? [], attribute)
        case .complete(let completion): completions.append(completion)
        case .dropAdditions(let operations): additions.subtract(operations)
        case .callback(.added(let operation, _)):
            if additions.remove(operation) == nil { violations.append("\(operation) is answered again") }
        case .callback(.readyToUpdate):
            announcements -= 1
            if announcements < 0 { violations.append("ready without an update") }
        default: break
        }
    }

    private mutating func spend(_ targets: [PeerID], _ attribute: AttributeID) {
        for central in targets {
            if !subscriptions.contains(Subscription(central: central, attribute: attribute)) {
                violations.append("\(central) gets a value of \(attribute) without a subscription")
            }
            let left = (credits[central] ?? 0) - 1
            if left < 0 { violations.append("\(central) gets a value without a credit") }
            credits[central] = left
        }
    }
}
