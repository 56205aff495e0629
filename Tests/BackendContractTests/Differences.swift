/// A difference of a backend that cannot pass a scenario: the lines that it traces instead, and the reason.
///
/// A test compares this table with the documentation.
struct ContractDifference: Sendable {
    /// The scenario's name.
    let scenario: String
    /// Prefixes of the fixtures' names, such as "bluez 5.66".
    let fixtures: [String]
    /// The line that the scenario expects.
    let line: String
    /// The lines that the fixture traces instead; empty if it traces none.
    let instead: [String]
    /// Why the backend cannot pass.
    let reason: String

    private static let broadcast =
        "before 5.79, BlueZ sends a value to all subscribers of a characteristic"

    private static let refusedByPeer = "the kernel ends a link when the other side fails the pairing"

    static let all: [ContractDifference] = [
        ContractDifference(
            scenario: "S44: a lost link is a connection time-out", fixtures: ["bluez 5.66", "bluez 5.82"],
            line: "didDisconnect disconnected ! CBError 6", instead: ["didDisconnect disconnected ! CBError 7"],
            reason: "BlueZ reports the reason of a disconnection from version 5.83 on (`Device1.Disconnected`)"),
        ContractDifference(
            scenario: "S127 S163: the app's error codes reach the central unchanged", fixtures: ["bluez"],
            line: "read C0DE1001 ! 252", instead: ["read C0DE1001 ! 14"],
            reason: "BlueZ's D-Bus errors map to few ATT codes; the central receives 0x0E for all others"),
        ContractDifference(
            scenario: "S131 S130: a long write is one callback of many parts", fixtures: ["bluez"],
            line: "didReceiveWrite C0DE1001 @0 180 bytes C0DE1001 @180 180 bytes C0DE1001 @360 40 bytes",
            instead: ["didReceiveWrite C0DE1001 @0 400 bytes"],
            reason: "BlueZ joins consecutive prepared writes before it calls `WriteValue`"),
        ContractDifference(
            scenario: "S138: a value goes to all subscribers, or to those that are listed", fixtures: ["bluez 5.66"],
            line: "notified C0DE1003 02", instead: ["notified C0DE1003 02", "notified C0DE1003 03"],
            reason: broadcast),
        ContractDifference(
            scenario: "S138: a value goes to all subscribers, or to those that are listed", fixtures: ["bluez 5.66"],
            line: "notified C0DE1003 03", instead: ["notified C0DE1003 02", "notified C0DE1003 03"],
            reason: broadcast),
        ContractDifference(
            scenario: "S136: one of two centrals may unsubscribe", fixtures: ["bluez 5.66"],
            line: "didUnsubscribe C0DE1003 of 1", instead: [],
            reason: "before 5.79, BlueZ reports an unsubscription only when the last central unsubscribes"),
        ContractDifference(
            scenario: "S72: a peer that refuses to pair gives the peer's own error",
            fixtures: ["bluez 5.66", "bluez 5.82"], line: "didUpdateValue C0DE0601 nil ! CBATTError 5",
            instead: ["didDisconnect disconnected ! CBError 7"], reason: refusedByPeer),
        ContractDifference(
            scenario: "S72: a peer that refuses to pair gives the peer's own error",
            fixtures: ["bluez 5.66", "bluez 5.82"],
            line: "didUpdateNotificationState C0DE0602 false ! CBATTError 5", instead: [], reason: refusedByPeer),
        ContractDifference(
            scenario: "S72: an agent is asked for consent, and may refuse it", fixtures: ["bluez"],
            line: "didUpdateValue C0DE0601 nil ! CBATTError 5",
            instead: ["didUpdateValue C0DE0601 nil ! CBATTError 5", "didDisconnect disconnected ! CBError 7"],
            reason: "bluetoothd answers nothing more on a link whose pairing was refused, so the library ends it"),
        ContractDifference(
            scenario: "S129: a central that refuses the comparison ends it for both", fixtures: ["bluez"],
            line: "read C0DE1007 ! 5", instead: ["read C0DE1007 ! 5", "disconnected authentication"],
            reason: refusedByPeer),
    ]

    /// The lines that a fixture traces instead in one scenario, by the expected line.
    static func lines(for scenario: String, on fixture: String) -> [String: [String]] {
        let own = all.filter { $0.scenario == scenario && $0.fixtures.contains { fixture.hasPrefix($0) } }
        return Dictionary(own.map { ($0.line, $0.instead) }) { $1 }
    }
}
