import BluetoothBackend
import BluetoothValues

extension DeviceFault: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case step, what, code, time, service, characteristic, index, skip, count, always
    }

    /// The effects as world files name them.
    enum EffectName: String, CaseIterable {
        case fail, delay, pause, disconnect
    }

    /// Reads a fault of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let steps = Step.allCases.map(\.rawValue).joined(separator: ", ")
        guard let step = try fields.text(.step, "the steps are \(steps)", { Step(rawValue: $0) }) else {
            throw fields.error(.step, "the field is missing")
        }
        let effect = try Self.effect(fields)
        let count: Int? = try fields.optional(.count)
        let always = try fields.optional(.always) ?? false
        guard !always || count == nil else { throw fields.error(.always, "a fault is for some steps or for all") }
        let uuid: BluetoothUUID? = try fields.optional(.characteristic)
        let service: BluetoothUUID? = try fields.optional(.service)
        let index: Int? = try fields.optional(.index)
        guard uuid != nil || service == nil && index == nil else {
            throw fields.error(.characteristic, "service and index tell characteristics of one UUID apart")
        }
        self.init(
            step, effect, of: uuid.map { CharacteristicPath($0, service: service, index: index ?? 0) }, count: nil)
        skip = try fields.optional(.skip) ?? 0
        self.count = always ? nil : count ?? 1
    }

    private static func effect(_ fields: StrictContainer<CodingKeys>) throws -> Effect {
        let effects = EffectName.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = try fields.text(.what, "the effects are \(effects)", { EffectName(rawValue: $0) }) else {
            throw fields.error(.what, "the field is missing")
        }
        let code: UInt8? = try fields.optional(.code)
        let time = try fields.text(.time, TextRule.duration, DurationText.parse)
        guard name == .fail || code == nil else { throw fields.error(.code, "only what fails has a code") }
        guard name == .delay || time == nil else { throw fields.error(.time, "only a delay has a time") }
        switch name {
        case .fail: return code.map { .fail(ATTCode(rawValue: $0)) } ?? .fail()
        case .pause: return .pause
        case .disconnect: return .disconnect
        case .delay:
            guard let time else { throw fields.error(.time, "the field is missing") }
            return .delay(time)
        }
    }

    /// Writes a fault of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(step.rawValue, forKey: .step)
        switch effect {
        case .fail(let code):
            try fields.encode(EffectName.fail.rawValue, forKey: .what)
            try fields.encode(code.rawValue, forKey: .code)
        case .delay(let time):
            try fields.encode(EffectName.delay.rawValue, forKey: .what)
            try fields.encode(DurationText.text(time), forKey: .time)
        case .pause: try fields.encode(EffectName.pause.rawValue, forKey: .what)
        case .disconnect: try fields.encode(EffectName.disconnect.rawValue, forKey: .what)
        }
        try fields.encodeIfPresent(characteristic?.service, forKey: .service)
        try fields.encodeIfPresent(characteristic?.uuid, forKey: .characteristic)
        if let index = characteristic?.index, index > 0 { try fields.encode(index, forKey: .index) }
        if skip > 0 { try fields.encode(skip, forKey: .skip) }
        guard let count else { return try fields.encode(true, forKey: .always) }
        if count > 1 { try fields.encode(count, forKey: .count) }
    }
}
