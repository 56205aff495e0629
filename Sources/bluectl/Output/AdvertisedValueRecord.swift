import BluetoothProfiles

/// What a beacon or a sensor broadcasts, as JSON.
struct AdvertisedValueRecord: Encodable, Equatable {
    /// One field: its value is a number, a boolean or text.
    struct Field: Encodable, Equatable {
        let field: AdvertisedField

        private enum CodingKeys: String, CodingKey { case name, value, unit }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(field.name, forKey: .name)
            switch field.value {
            case .number(let number, digits: 0): try container.encode(Int64(number), forKey: .value)
            case .number(let number, _): try container.encode(number, forKey: .value)
            case .flag(let flag): try container.encode(flag, forKey: .value)
            case .text(let text): try container.encode(text, forKey: .value)
            }
            try container.encodeIfPresent(field.unit, forKey: .unit)
        }
    }

    /// `BTHome`, `Eddystone`, `iBeacon`, `Ruuvi`.
    let format: String
    let fields: [Field]

    init(_ value: AdvertisedValue) {
        format = value.format
        fields = value.fields.map(Field.init)
    }
}
