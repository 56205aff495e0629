import CoreBluetooth

/// What the sensors of cyclists and runners have in common: a location, and a control point.
final class SpeedSensorServer: Sendable {
    let location: ServedValue<SensorLocation>
    let controlPoint: ServedValue<Data>

    /// A sensor.
    ///
    /// - Parameters:
    ///   - locations: Where it can sit; the first is where it is at first.
    ///   - service: Its service.
    ///   - perform: Sets the cumulative value, or calibrates.
    init(
        locations: [SensorLocation], in service: CBUUID,
        perform: @escaping @Sendable (SCControlPointRequest) -> SCControlPointResponse.Result
    ) {
        let location = ServedValue(
            GATTCharacteristic<SensorLocation>(CBUUID(string: "2A5D"), in: service, .read), locations.first ?? .other)
        self.location = location
        // Raw bytes: an unknown order is answered, not refused.
        controlPoint = ServedValue(
            GATTCharacteristic<Data>(CBUUID(string: "2A55"), in: service, [.write, .indicate]),
            answer: { data in
                guard let code = data.first else { throw CBATTError(.invalidAttributeValueLength) }
                return Self.respond(code, data, location, locations, perform)
            })
    }

    private static func respond(
        _ code: UInt8, _ data: Data, _ location: ServedValue<SensorLocation>, _ locations: [SensorLocation],
        _ perform: (SCControlPointRequest) -> SCControlPointResponse.Result
    ) -> SCControlPointResponse {
        let request: SCControlPointRequest
        do {
            request = try SCControlPointRequest(decoding: data)
        } catch {
            let isKnown = (1...4).contains(code)
            return SCControlPointResponse(
                requestCode: code, result: isKnown ? .invalidParameter : .opCodeNotSupported)
        }
        switch request {
        case .updateSensorLocation(let wanted):
            guard locations.contains(wanted) else {
                return SCControlPointResponse(requestCode: code, result: .invalidParameter)
            }
            location.value = wanted
            return SCControlPointResponse(requestCode: code, result: .success)
        case .requestSupportedSensorLocations:
            return SCControlPointResponse(requestCode: code, result: .success, supportedLocations: locations)
        case .setCumulativeValue, .startSensorCalibration:
            return SCControlPointResponse(requestCode: code, result: perform(request))
        }
    }
}
