package import AsyncBluetooth
import Foundation

/// The devices whose advertisements are published; a pure state machine.
package struct AdvertiserTable: Sendable {
    /// The silence after which a device may be replaced by a new one, if its rule is full.
    package static let forgottenAfter = Duration.seconds(86_400)

    /// An action for the gateway.
    package enum Action: Sendable, Equatable {
        /// Publishes a value of a device.
        case publish(AdvertisedReading, device: String)
        /// Announces values of a device to Home Assistant.
        case announce([AdvertisedReading], device: String, rule: Int)
        /// Withdraws all values of a device from Home Assistant.
        case withdraw(device: String)
        /// Writes a log line, once for a device or a rule.
        case warn(String, device: String)
    }

    private let rules: [AdvertisementRule]
    /// The devices by their names in topics, for each rule.
    private var advertisers: [[String: Advertiser]]
    private var fullRules: Set<Int> = []
    /// The number of values that were omitted.
    package private(set) var dropped = 0
    /// The time at which ``takeDue(at:)`` must be called; nil for never.
    package private(set) var due: ContinuousClock.Instant?

    /// - Parameter devices: The names of devices that an earlier process announced to Home Assistant.
    package init(_ rules: [AdvertisementRule], devices: Set<String> = []) {
        self.rules = rules
        advertisers = rules.map { rule in
            let known = devices.filter(rule.isName).sorted().prefix(rule.devices)
            return Dictionary(uniqueKeysWithValues: known.map { ($0, Advertiser(rule)) })
        }
    }

    /// The number of devices that this process has heard.
    package var heardDevices: Int { advertisers.reduce(0) { $0 + $1.values.count { $0.heard != nil } } }

    // MARK: Advertisements

    /// Handles an advertisement, which is untrusted.
    ///
    /// - Parameters:
    ///   - address: Called only if a rule reads the data.
    ///   - signalStrength: The signal strength in dBm.
    package mutating func advertised(
        _ data: AdvertisedData, address: () -> String?, signalStrength: Int?, at now: ContinuousClock.Instant
    ) -> [Action] {
        var actions: [Action] = []
        for index in rules.indices {
            guard let bytes = rules[index].bytes(in: data, address: address) else { continue }
            advertised(bytes, index, address, signalStrength, &actions, at: now)
        }
        return actions
    }

    private mutating func advertised(
        _ bytes: Data, _ index: Int, _ address: () -> String?, _ signalStrength: Int?, _ actions: inout [Action],
        at now: ContinuousClock.Instant
    ) {
        let rule = rules[index]
        guard let key = rule.key(address: address(), bytes: bytes) else { return }
        let name = rule.isOfOneDevice ? rule.id : "\(rule.id)-\(key)"
        // Malformed bytes take no device's place.
        if advertisers[index][name] == nil {
            guard let content = rule.content(of: bytes), !content.isEncrypted || rule.isOfOneDevice,
                makeRoom(index, &actions, at: now)
            else { return }
        }
        var advertiser = advertisers[index][name] ?? Advertiser(rule)
        var changes = Advertiser.Changes()
        let (isDecoded, isNew) = advertiser.hear(bytes, at: now)
        if isDecoded { decode(bytes, rule, &advertiser, &changes, isNew: isNew, name, &actions, at: now) }
        if rule.hasSignalStrength, let signalStrength {
            advertiser.update(.signalStrength(signalStrength), &changes, at: now)
        }
        advertisers[index][name] = advertiser
        if isDecoded || rule.hasSignalStrength, let next = advertiser.due { due = min(due ?? next, next) }
        dropped += changes.dropped
        if !changes.new.isEmpty { actions.append(.announce(changes.new, device: name, rule: index)) }
        actions += changes.published.map { .publish($0, device: name) }
    }

    private func decode(
        _ bytes: Data, _ rule: AdvertisementRule, _ advertiser: inout Advertiser, _ changes: inout Advertiser.Changes,
        isNew: Bool, _ name: String, _ actions: inout [Action], at now: ContinuousClock.Instant
    ) {
        let content = rule.content(of: bytes)
        if let content, !content.isEncrypted {
            changes = advertiser.update(content, isNew: isNew, at: now)
        } else {
            let reason =
                content == nil ? "the advertised data do not fit the format" : "the advertised values are encrypted"
            if advertiser.logged.insert(reason).inserted { actions.append(.warn(reason, device: name)) }
        }
    }

    /// Whether a rule accepts one more device; the one that was silent longest may be removed for it.
    private mutating func makeRoom(_ index: Int, _ actions: inout [Action], at now: ContinuousClock.Instant) -> Bool {
        guard advertisers[index].count >= rules[index].devices else { return true }
        // Devices that this process has not heard yet count as silent since its start, whose time is unknown.
        let oldest = advertisers[index].compactMap { name, advertiser in advertiser.heard.map { (name, $0) } }
            .min { $0.1 < $1.1 }
        if let (name, heard) = oldest, now - heard >= Self.forgottenAfter {
            advertisers[index][name] = nil
            actions.append(.withdraw(device: name))
            return true
        }
        if fullRules.insert(index).inserted {
            actions.append(
                .warn(
                    "more devices than \(rules[index].devices) advertise; the others are left out",
                    device: rules[index].id))
        }
        return false
    }

    // MARK: Waiting values

    /// Takes the values whose minimum interval has ended.
    package mutating func takeDue(at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for index in advertisers.indices {
            for name in advertisers[index].keys.sorted() {
                let readings = advertisers[index][name]?.takeDue(at: now) ?? []
                actions += readings.map { .publish($0, device: name) }
            }
        }
        due = advertisers.flatMap(\.values).compactMap(\.due).min()
        return actions
    }
}

extension AdvertisedReading {
    /// Returns a reading of a signal strength in dBm.
    fileprivate static func signalStrength(_ strength: Int) -> AdvertisedReading {
        AdvertisedReading(
            id: "signal-strength", name: "Signal strength", value: .integer(Int64(strength)), unit: "dBm",
            deviceClass: "signal_strength", stateClass: "measurement")
    }
}
