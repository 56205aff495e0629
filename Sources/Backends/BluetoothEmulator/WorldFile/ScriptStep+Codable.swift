import BluetoothBackend
import BluetoothSupport

extension ScriptStep: Codable {
    /// A step in the format of world files.
    struct Object: Sendable {
        /// A value with its characteristic.
        struct Change: Sendable {
            var characteristic: BluetoothUUID?
            var service: BluetoothUUID?
            var index: Int?
            var value: Data?
            var isNotified: Bool?
        }

        static let fields = FieldTable(
            Object(),
            .value("at", \.time, .duration, isRequired: true),
            .value("device", \.device),
            .value("host", \.host),
            .value("powered", \.isPowered),
            .value("proximity", \.proximity, .name("proximities", of: Proximity.allCases)),
            .value("rssi", \.rssi),
            .value("advertising", \.isAdvertising),
            .value("disconnect", \.disconnects),
            .value("characteristic", \.change.characteristic),
            .value("service", \.change.service),
            .value("index", \.change.index),
            .value("value", \.change.value, .hex),
            .value("notify", \.change.isNotified),
            .value("fault", \.fault))

        /// The fields that each represent an action.
        static let actions = ["proximity", "rssi", "advertising", "disconnect", "value", "fault", "powered"]

        var time = Duration.zero
        var device: String?
        var host: String?
        var isPowered: Bool?
        var proximity: Proximity?
        var rssi: Int?
        var isAdvertising: Bool?
        var disconnects: Bool?
        var change = Change()
        var fault: DeviceFault?

        /// The actions on a device, each with its field; checked values have a characteristic.
        var deviceActions: [(field: String, action: DeviceAction)] {
            let path = CharacteristicPath(
                change.characteristic ?? BluetoothUUID(0), service: change.service, index: change.index ?? 0)
            let isNotified = change.isNotified ?? true
            let actions: [(String, DeviceAction?)] = [
                ("proximity", proximity.map { .setProximity($0) }),
                ("rssi", rssi.map { .setRSSI($0) }),
                ("advertising", isAdvertising.map { .setAdvertising($0) }),
                ("disconnect", disconnects.map { _ in .disconnect }),
                ("value", change.value.map { .setValue($0, of: path, isNotified: isNotified) }),
                ("fault", fault.map { .inject($0) }),
            ]
            return actions.compactMap { field, action in action.map { (field, $0) } }
        }
    }

    /// Decodes a step of a world file.
    public init(from decoder: any Decoder) throws {
        let none = ScriptStep(at: .zero, .host("default", isPowered: true))
        self = try decoder.collecting(none, Object.fields, checks: { $0.checks($1) }) { ScriptStep($0) ?? none }
    }

    /// - Parameter object: A checked object; the result is nil for an unchecked one.
    private init?(_ object: Object) {
        if let device = object.device, let action = object.deviceActions.first?.action {
            self.init(at: object.time, .device(device, action))
        } else if let host = object.host, let isPowered = object.isPowered {
            self.init(at: object.time, .host(host, isPowered: isPowered))
        } else {
            return nil
        }
    }

    /// Encodes a step for a world file.
    public func encode(to encoder: any Encoder) throws {
        var object = Object(time: time)
        switch action {
        case .host(let name, let isPowered): (object.host, object.isPowered) = (name, isPowered)
        case .device(let name, let action):
            object.device = name
            switch action {
            case .setProximity(let proximity): object.proximity = proximity
            case .setRSSI(let rssi): object.rssi = rssi
            case .setAdvertising(let isOn): object.isAdvertising = isOn
            case .disconnect: object.disconnects = true
            case .inject(let fault): object.fault = fault
            case .setValue(let value, let path, let isNotified):
                object.change = Object.Change(
                    characteristic: path.uuid, service: path.service, index: path.index > 0 ? path.index : nil,
                    value: value, isNotified: isNotified ? nil : false)
            }
        }
        try Object.fields.write(object, encoder)
    }
}

extension ScriptStep.Object {
    /// The checks of fields that depend on each other.
    fileprivate func checks(_ prefix: String) -> [RuleCheck] {
        [
            RuleCheck("\(prefix)disconnect", "it is true, or left out", disconnects != false),
            RuleCheck(
                "\(prefix)value", "a value has a characteristic", change.value == nil || change.characteristic != nil),
            RuleCheck("\(prefix)index", "an index is 0 or more", change.index ?? 0 >= 0),
        ] + strayFields.map { RuleCheck(prefix + $0, "it belongs to a value, which is missing", false) }
            + subjectChecks(prefix)
    }

    /// The fields of a value, if the value itself is missing.
    private var strayFields: [String] {
        guard change.value == nil else { return [] }
        let fields = [
            ("characteristic", change.characteristic != nil), ("service", change.service != nil),
            ("index", change.index != nil), ("notify", change.isNotified != nil),
        ]
        return fields.filter(\.1).map(\.0)
    }

    /// Checks that a step has one action, and the device or host that performs it.
    private func subjectChecks(_ prefix: String) -> [RuleCheck] {
        let actions = deviceActions.map(\.field) + (isPowered == nil ? [] : ["powered"])
        guard let action = actions.first else {
            // The fields of a missing value are already reported as that mistake.
            let names = Self.actions.joined(separator: ", ")
            return [RuleCheck("\(prefix)at", "a step has one of \(names)", !strayFields.isEmpty)]
        }
        guard actions.count == 1 else {
            let names = actions.joined(separator: " and ")
            return [RuleCheck(prefix + actions[1], "a step has one action, not \(names)", false)]
        }
        let isOfHost = isPowered != nil
        return [
            RuleCheck("\(prefix)at", "a step names a device or a host", device != nil || host != nil),
            RuleCheck(
                "\(prefix)host", "a step is about a device or a host, not both", device == nil || host == nil),
            RuleCheck(
                prefix + action, "only a host has it: name a host", device == nil || host != nil || !isOfHost),
            RuleCheck(
                prefix + action, "only a device has it: name a device", host == nil || device != nil || isOfHost),
        ]
    }
}
