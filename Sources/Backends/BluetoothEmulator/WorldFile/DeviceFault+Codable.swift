import BluetoothBackend
import BluetoothValues

extension DeviceFault: Codable {
    /// A fault in the format of world files.
    struct Object: Sendable {
        static let fields = FieldTable(
            Object(),
            .value("step", \.step, .name("steps", of: Step.allCases), isRequired: true),
            .value("what", \.what, .name("effects", of: EffectName.allCases), isRequired: true),
            .value("code", \.code),
            .value("time", \.time, .duration),
            .value("service", \.service),
            .value("characteristic", \.characteristic),
            .value("index", \.index),
            .value("skip", \.skip),
            .value("count", \.count),
            .value("always", \.always))

        var step = Step.connect
        var what = EffectName.fail
        var code: UInt8?
        var time: Duration?
        var service: BluetoothUUID?
        var characteristic: BluetoothUUID?
        var index: Int?
        var skip = 0
        var count: Int?
        var always = false
    }

    /// Decodes a fault of a world file.
    public init(from decoder: any Decoder) throws {
        self = try decoder.collecting(DeviceFault(.connect, .pause), Object.fields, checks: { $0.checks($1) }) {
            DeviceFault($0)
        }
    }

    /// - Parameter object: A checked object.
    private init(_ object: Object) {
        let effect: Effect =
            switch object.what {
            case .fail: object.code.map { .fail(ATTCode(rawValue: $0)) } ?? .fail()
            case .pause: .pause
            case .disconnect: .disconnect
            case .delay: .delay(object.time ?? .zero)
            case .loseAnswer: .loseAnswer
            case .delayAnswer: .delayAnswer(object.time ?? .zero)
            case .corrupt: .corrupt
            }
        let path = object.characteristic.map {
            CharacteristicPath($0, service: object.service, index: object.index ?? 0)
        }
        self.init(object.step, effect, of: path, count: nil)
        skip = object.skip
        count = object.always ? nil : object.count ?? 1
    }

    /// Encodes a fault for a world file, without the fields that have their default values.
    public func encode(to encoder: any Encoder) throws {
        var object = Object(
            step: step, what: effect.name, service: characteristic?.service, characteristic: characteristic?.uuid,
            skip: skip, count: count == 1 ? nil : count, always: count == nil)
        if let index = characteristic?.index, index > 0 { object.index = index }
        switch effect {
        case .fail(let code): object.code = code.rawValue
        case .delay(let time), .delayAnswer(let time): object.time = time
        case .pause, .disconnect, .loseAnswer, .corrupt: break
        }
        try Object.fields.write(object, encoder)
    }
}

extension DeviceFault.Object {
    /// The checks of fields that depend on each other.
    fileprivate func checks(_ prefix: String) -> [RuleCheck] {
        let (isDelay, rule) = ([.delay, .delayAnswer].contains(what), what.brokenRule(at: step))
        return [
            RuleCheck("\(prefix)what", rule ?? "", rule == nil),
            RuleCheck("\(prefix)code", "only a failure has a code", what == .fail || code == nil),
            RuleCheck("\(prefix)time", "only a delay has a time", isDelay || time == nil),
            RuleCheck("\(prefix)time", "the field is missing", !isDelay || time != nil),
            RuleCheck("\(prefix)always", "a fault is for some steps or for all", !always || count == nil),
            RuleCheck(
                "\(prefix)characteristic", "service and index distinguish characteristics of one UUID",
                characteristic != nil || service == nil && index == nil),
        ]
    }
}
