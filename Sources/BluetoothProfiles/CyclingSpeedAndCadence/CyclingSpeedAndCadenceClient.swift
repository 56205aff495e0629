public import AsyncBluetooth
public import CoreBluetooth

/// A sensor on a bicycle.
public struct CyclingSpeedAndCadenceClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The revolutions, about each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, CSCMeasurement> {
        peripheral.values(of: CyclingSpeedAndCadenceService.measurement)
    }

    /// Reads what the sensor can do.
    public func feature() async throws -> CSCFeature {
        try await peripheral.read(CyclingSpeedAndCadenceService.feature)
    }

    /// Reads where the sensor sits; nil where it does not say.
    public func sensorLocation() async throws -> SensorLocation? {
        try await peripheral.readIfPresent(CyclingSpeedAndCadenceService.sensorLocation)
    }

    /// Gives the sensor an order, and waits for its response.
    public func perform(_ request: SCControlPointRequest) async throws -> SCControlPointResponse {
        try await peripheral.perform(request, at: CyclingSpeedAndCadenceService.controlPoint.id)
    }
}

extension Peripheral {
    /// Writes an order to an SC Control Point, and waits for the indication that answers it.
    func perform(
        _ order: SCControlPointRequest, at controlPoint: CharacteristicID
    ) async throws -> SCControlPointResponse {
        let code = order.code
        let answer = try await request(order.encoded, write: controlPoint, notify: controlPoint) { data in
            data.count >= 2 && data.dropFirst().first == code
        }
        return try SCControlPointResponse(decoding: answer)
    }
}
