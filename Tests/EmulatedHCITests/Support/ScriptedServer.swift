import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// A client and the answers that it gets.
struct ScriptedServer {
    private(set) var client: ATTClient
    private(set) var sent: [ATTPDU] = []
    private(set) var outcomes: [Int: ATTClient.Outcome] = [:]
    /// The reports of the client without a request.
    private(set) var reports: [ATTClient.Action] = []
    private var lastNumber = 0

    init(maximumMTU: Int = 247) { client = ATTClient(maximumMTU: maximumMTU) }

    /// Performs an operation until the server has no answer.
    ///
    /// - Returns: The outcome; nil if the operation waits.
    @discardableResult
    mutating func perform(
        _ operation: ATTClient.Operation, _ answer: (ATTPDU) -> ATTPDU?
    ) -> ATTClient.Outcome? {
        lastNumber += 1
        let number = lastNumber
        run(client.perform(operation, number), answer)
        return outcomes[number]
    }

    mutating func receive(_ pdu: ATTPDU, _ answer: (ATTPDU) -> ATTPDU? = { _ in nil }) {
        run(client.receive(pdu), answer)
    }

    mutating func end() { run(client.end()) { _ in nil } }

    private mutating func run(_ actions: [ATTClient.Action], _ answer: (ATTPDU) -> ATTPDU?) {
        var open = actions[...]
        // A discovery takes as many requests as there are attributes, and some for each service and characteristic.
        for _ in 0..<20_000 {
            guard let action = open.popFirst() else { return }
            switch action {
            case .send(let pdu):
                sent.append(pdu)
                if let response = answer(pdu) { open += client.receive(response) }
            case .complete(let number, let outcome):
                #expect(outcomes.updateValue(outcome, forKey: number) == nil, "an operation ends once")
            case .notified, .servicesChanged: reports.append(action)
            }
        }
        Issue.record("the client does not come to an end")
    }
}
