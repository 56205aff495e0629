extension SCControlPointResponse {
    /// Runs a request to a simulated sensor, which cannot be calibrated, and creates its response.
    ///
    /// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
    ///
    /// - Parameters:
    ///   - data: The written bytes, which may be no valid request.
    ///   - locations: The possible locations of the sensor.
    ///   - setValue: Sets the cumulative value.
    ///   - setLocation: Sets the location, to a possible one.
    package init(
        to data: Data, locations: [SensorLocation], setValue: (UInt32) -> Void, setLocation: (SensorLocation) -> Void
    ) {
        let code = data.first ?? 0
        self.init(requestCode: code, result: .success)
        do {
            switch try SCControlPointRequest(decoding: data) {
            case .setCumulativeValue(let value): setValue(value)
            case .startSensorCalibration: result = .opCodeNotSupported
            case .updateSensorLocation(let location):
                if locations.contains(location) { setLocation(location) } else { result = .invalidParameter }
            case .requestSupportedSensorLocations: supportedLocations = locations
            }
        } catch {
            result = [1, 3, 4].contains(code) ? .invalidParameter : .opCodeNotSupported
        }
    }
}
