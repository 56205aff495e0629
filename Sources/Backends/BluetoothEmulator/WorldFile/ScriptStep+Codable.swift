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
            .value("plugged", \.isPlugged),
            .value("resetting", \.resetting, .duration),
            .value("interference", \.interference),
            .value("proximity", \.proximity, .name("proximities", of: Proximity.allCases)),
            .value("rssi", \.rssi),
            .value("advertising", \.isAdvertising),
            mark("disconnect"), mark("reset"), mark("rotateAddress"), mark("clearFaults"), mark("resume"),
            .value("characteristic", \.change.characteristic),
            .value("service", \.change.service),
            .value("index", \.change.index),
            .value("value", \.change.value, .hex),
            .value("notify", \.change.isNotified),
            .value("fault", \.fault))

        /// The fields that each represent an action.
        static let actions = [
            "proximity", "rssi", "advertising", "disconnect", "reset", "rotateAddress", "value", "fault", "clearFaults",
            "resume", "powered", "plugged", "resetting", "interference",
        ]

        /// The actions on a device that have no argument, by their fields, which are true.
        static let marks: KeyValuePairs<String, DeviceAction> = [
            "disconnect": .disconnect, "reset": .reset, "rotateAddress": .rotateAddress, "clearFaults": .clearFaults,
            "resume": .resume,
        ]

        /// An action without its device or host.
        enum Content: Sendable {
            case device(DeviceAction)
            case host(HostAction)
            case interference(Double)
        }

        var time = Duration.zero
        var device: String?
        var host: String?
        var isPowered: Bool?
        var isPlugged: Bool?
        var resetting: Duration?
        var interference: Double?
        var proximity: Proximity?
        var rssi: Int?
        var isAdvertising: Bool?
        var marks: [String: Bool] = [:]
        var change = Change()
        var fault: DeviceFault?

        private static func mark(_ name: String) -> Field<Object> {
            .custom(name, read: { $0.marks[name] = try $1.value() }, write: { $0.marks[name] })
        }

        /// The actions, each with its field; checked values have a characteristic.
        var contents: [(field: String, content: Content)] {
            let path = CharacteristicPath(
                change.characteristic ?? BluetoothUUID(0), service: change.service, index: change.index ?? 0)
            let isNotified = change.isNotified ?? true
            let marked = Self.marks.map { field, action in (field, marks[field].map { _ in Content.device(action) }) }
            let others: [(String, Content?)] = [
                ("proximity", proximity.map { .device(.setProximity($0)) }),
                ("rssi", rssi.map { .device(.setRSSI($0)) }),
                ("advertising", isAdvertising.map { .device(.setAdvertising($0)) }),
                ("value", change.value.map { .device(.setValue($0, of: path, isNotified: isNotified)) }),
                ("fault", fault.map { .device(.inject($0)) }),
                ("powered", isPowered.map { .host(.setPower($0)) }),
                ("plugged", isPlugged.map { .host(.setPlugged($0)) }),
                ("resetting", resetting.map { .host(.reset(for: $0)) }),
                ("interference", interference.map { .interference($0) }),
            ]
            return (others + marked).compactMap { field, content in content.map { (field, $0) } }
        }
    }

    /// Decodes a step of a world file.
    public init(from decoder: any Decoder) throws {
        let none = ScriptStep(at: .zero, .interference(0))
        self = try decoder.collecting(none, Object.fields, checks: { $0.checks($1) }) { ScriptStep($0) ?? none }
    }

    /// - Parameter object: A checked object; the result is nil for an unchecked one.
    private init?(_ object: Object) {
        switch (object.contents.first?.content, object.device, object.host) {
        case (.device(let action), let device?, _): self.init(at: object.time, .device(device, action))
        case (.host(let action), _, let host?): self.init(at: object.time, .host(host, action))
        case (.interference(let chance), _, _): self.init(at: object.time, .interference(chance))
        default: return nil
        }
    }

    /// Encodes a step for a world file.
    public func encode(to encoder: any Encoder) throws {
        var object = Object(time: time)
        switch action {
        case .interference(let chance): object.interference = chance
        case .host(let name, let action):
            object.host = name
            switch action {
            case .setPower(let isOn): object.isPowered = isOn
            case .setPlugged(let isPlugged): object.isPlugged = isPlugged
            case .reset(let time): object.resetting = time
            }
        case .device(let name, let action):
            object.device = name
            switch action {
            case .setProximity(let proximity): object.proximity = proximity
            case .setRSSI(let rssi): object.rssi = rssi
            case .setAdvertising(let isOn): object.isAdvertising = isOn
            case .inject(let fault): object.fault = fault
            case .setValue(let value, let path, let isNotified):
                object.change = Object.Change(
                    characteristic: path.uuid, service: path.service, index: path.index > 0 ? path.index : nil,
                    value: value, isNotified: isNotified ? nil : false)
            case .disconnect, .reset, .rotateAddress, .clearFaults, .resume:
                if let field = Object.marks.first(where: { $0.value == action })?.key { object.marks[field] = true }
            }
        }
        try Object.fields.write(object, encoder)
    }
}

extension ScriptStep.Object {
    /// The checks of fields that depend on each other.
    fileprivate func checks(_ prefix: String) -> [RuleCheck] {
        Self.marks.map { field, _ in RuleCheck(prefix + field, "it is true, or left out", marks[field] != false) } + [
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

    /// Checks that a step has one action, and names the device or host that performs it, if any does.
    private func subjectChecks(_ prefix: String) -> [RuleCheck] {
        let contents = contents
        guard let (field, content) = contents.first else {
            // The fields of a missing value are already reported as that mistake.
            let names = Self.actions.joined(separator: ", ")
            return [RuleCheck("\(prefix)at", "a step has one of \(names)", !strayFields.isEmpty)]
        }
        guard contents.count == 1 else {
            let names = contents.map(\.field).joined(separator: " and ")
            return [RuleCheck(prefix + contents[1].field, "a step has one action, not \(names)", false)]
        }
        let isOfHost: Bool
        switch content {
        case .device: isOfHost = false
        case .host: isOfHost = true
        case .interference:
            let rule = "it concerns the whole world: name no device and no host"
            return [RuleCheck(prefix + field, rule, device == nil && host == nil)]
        }
        return [
            RuleCheck("\(prefix)at", "a step names a device or a host", device != nil || host != nil),
            RuleCheck(
                "\(prefix)host", "a step is about a device or a host, not both", device == nil || host == nil),
            RuleCheck(prefix + field, "only a host has it: name a host", device == nil || host != nil || !isOfHost),
            RuleCheck(
                prefix + field, "only a device has it: name a device", host == nil || device != nil || isOfHost),
        ]
    }
}
