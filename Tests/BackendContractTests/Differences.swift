/// Where a backend cannot do as the others do: which lines it traces instead, and why.
///
/// The documentation's table is this one, which a test compares.
struct ContractDifference: Sendable {
    /// The scenario's name.
    let scenario: String
    /// Which stages: prefixes of their names, such as "bluez 5.66".
    let stages: [String]
    /// The line of the suite.
    let line: String
    /// The lines of the stage; none where it says nothing.
    let instead: [String]
    /// Why it must be so.
    let reason: String

    static let all: [ContractDifference] = [
        ContractDifference(
            scenario: "S44: a lost link is a connection time-out", stages: ["bluez 5.66", "bluez 5.82"],
            line: "didDisconnect disconnected ! CBError 6", instead: ["didDisconnect disconnected ! CBError 7"],
            reason: "BlueZ tells the reason of a disconnection from version 5.83 on (`Device1.Disconnected`)"),
        ContractDifference(
            scenario: "S98: the signal strength of a link can be read", stages: ["bluez"],
            line: "didReadRSSI dBm", instead: ["didReadRSSI - ! CBError 13"],
            reason: "BlueZ has no D-Bus call for the signal strength of a connected device"),
    ]

    /// What a stage traces instead, line by line, in one scenario.
    static func lines(for scenario: String, on stage: String) -> [String: [String]] {
        let own = all.filter { $0.scenario == scenario && $0.stages.contains { stage.hasPrefix($0) } }
        return Dictionary(own.map { ($0.line, $0.instead) }) { $1 }
    }
}
