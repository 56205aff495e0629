import CoreBluetooth

/// A scenario that a backend cannot pass: the events that occur instead, and the reason.
///
/// A test compares this table with the documentation.
struct ContractDifference: Sendable {
    /// The scenario's name.
    let scenario: String
    /// Prefixes of the fixtures' names, such as "bluez 5.66".
    let fixtures: [String]
    /// The event that the scenario expects.
    let event: ContractEvent
    /// The events that occur instead, if any.
    let instead: [ContractEvent]
    /// The reason why the backend cannot pass.
    let reason: String

    private static let broadcast =
        "before 5.79, BlueZ sends a value to all subscribers of a characteristic"

    private static let refusedByPeer = "the kernel ends a link when the other side fails the pairing"

    static let all: [ContractDifference] = [
        ContractDifference(
            scenario: "S44: a lost link is a connection time-out", fixtures: ["bluez 5.66", "bluez 5.82"],
            event: .didDisconnect().failing(.connectionTimeout),
            instead: [.didDisconnect().failing(.peripheralDisconnected)],
            reason: "BlueZ reports the reason of a disconnection from version 5.83 on (`Device1.Disconnected`)"),
        ContractDifference(
            scenario: "S127 S163: the app's error codes reach the central unchanged", fixtures: ["bluez"],
            event: .read(.dynamic).failing(response: .number(0xFC)),
            instead: [.read(.dynamic).failing(response: .unlikelyError)],
            reason: "BlueZ's D-Bus errors map to few ATT codes; the central receives 0x0E for all others"),
        ContractDifference(
            scenario: "S131 S130: a long write is one callback with several requests", fixtures: ["bluez"],
            event: .didReceiveWrite(.dynamic, LocalServices.longValue, inPartsOf: 180),
            instead: [.didReceiveWrite(.dynamic, LocalServices.longValue)],
            reason: "BlueZ joins consecutive prepared writes before it calls `WriteValue`"),
        ContractDifference(
            scenario: "S138: a value goes to all subscribers, or to those in the list", fixtures: ["bluez 5.66"],
            event: .notified(.updating, [2]), instead: [.notified(.updating, [2]), .notified(.updating, [3])],
            reason: broadcast),
        ContractDifference(
            scenario: "S138: a value goes to all subscribers, or to those in the list", fixtures: ["bluez 5.66"],
            event: .notified(.updating, [3]), instead: [.notified(.updating, [2]), .notified(.updating, [3])],
            reason: broadcast),
        ContractDifference(
            scenario: "S136: one of two centrals may unsubscribe", fixtures: ["bluez 5.66"],
            event: .didUnsubscribe(.updating, subscribers: 1), instead: [],
            reason: "before 5.79, BlueZ reports an unsubscription only when the last central unsubscribes"),
        ContractDifference(
            scenario: "S72: a peer that refuses to pair gives the peer's own error", fixtures: ["bluez"],
            event: .didUpdateValue(.secret).failing(att: .insufficientAuthentication),
            instead: [.didDisconnect().failing(.peripheralDisconnected)], reason: refusedByPeer),
        ContractDifference(
            scenario: "S72: a peer that refuses to pair gives the peer's own error", fixtures: ["bluez"],
            event: .didUpdateNotificationState(.secretNotifying, false).failing(att: .insufficientAuthentication),
            instead: [], reason: refusedByPeer),
        ContractDifference(
            scenario: "S72: an agent is asked for consent, and may refuse", fixtures: ["bluez"],
            event: .didUpdateValue(.secret).failing(att: .insufficientAuthentication),
            instead: [
                .didUpdateValue(.secret).failing(att: .insufficientAuthentication),
                .didDisconnect().failing(.peripheralDisconnected),
            ],
            reason: "bluetoothd answers nothing more on a link whose pairing was refused, so the library ends it"),
        ContractDifference(
            scenario: "S129: a central that rejects the comparison fails the pairing", fixtures: ["bluez"],
            event: .read(.protected).failing(response: .insufficientAuthentication),
            instead: [
                .read(.protected).failing(response: .insufficientAuthentication), .disconnected("authentication"),
            ],
            reason: refusedByPeer),
    ]

    /// Returns the events that occur instead on a fixture, in one scenario.
    static func events(for scenario: String, on fixture: String) -> [ContractEvent: [ContractEvent]] {
        let own = all.filter { $0.scenario == scenario && $0.fixtures.contains { fixture.hasPrefix($0) } }
        return Dictionary(own.map { ($0.event, $0.instead) }) { $1 }
    }
}
