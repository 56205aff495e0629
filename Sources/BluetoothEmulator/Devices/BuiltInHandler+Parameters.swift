extension BuiltInHandler {
    /// The parameters that the behaviour knows, and their ranges.
    public var parameters: [DeviceParameter: ClosedRange<Double>] {
        let battery: [DeviceParameter: ClosedRange<Double>] = [.batteryLevel: 0...100]
        return switch self {
        case .battery: battery
        case .heartRate:
            battery.merging([
                .heartRate: 0...65_535, .sensorContact: 0...1, .sensorContactSupported: 0...1,
                .energyExpended: 0...65_535,
            ]) { $1 }
        case .healthThermometer:
            battery.merging([.temperature: -100...300, .fahrenheit: 0...1, .measurementInterval: 0...65_535]) { $1 }
        case .cycling: battery.merging([.cadence: 0...400, .wheelRate: 0...2_000]) { $1 }
        case .currentTime: [.timeOffset: -1e9...1e9, .timeZone: -48...56, .daylightSaving: 0...8]
        default: [:]
        }
    }

    /// Checks parameters of a description.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    func validate(_ values: [DeviceParameter: Double], path: String) throws(DescriptionError) {
        for (parameter, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let range = parameters[parameter] else {
                let known = parameters.keys.map(\.rawValue).sorted().joined(separator: ", ")
                throw DescriptionError(
                    "\(path).\(parameter.rawValue)",
                    "the handler \(rawValue) has \(known.isEmpty ? "no parameters" : "the parameters \(known)")")
            }
            guard range.contains(value) else {
                throw DescriptionError(
                    "\(path).\(parameter.rawValue)",
                    "the range is \(range.lowerBound.whole(in: .min ... .max))...\(range.upperBound.whole(in: .min ... .max))"
                )
            }
        }
    }
}

extension PeripheralDescription {
    /// Checks that somebody listens to the parameters.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    func validateParameters(path: String = "") throws(DescriptionError) {
        guard handler != nil || parameters.isEmpty else {
            throw DescriptionError("\(path)parameters", "only a device with a handler has parameters")
        }
    }
}
