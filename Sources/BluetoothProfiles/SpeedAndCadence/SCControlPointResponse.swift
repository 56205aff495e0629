/// SC Control Point (2A55), as it is indicated: how an order ended.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
public struct SCControlPointResponse: GATTValue {
    /// How an order ended.
    public enum Result: UInt8, GATTValue, CaseIterable {
        /// Done.
        case success = 1
        /// The sensor does not know the order.
        case opCodeNotSupported
        /// The order's parameter is wrong.
        case invalidParameter
        /// The sensor could not.
        case operationFailed
    }

    static let code: UInt8 = 0x10

    /// The code of the request.
    public var requestCode: UInt8
    /// How it ended.
    public var result: Result
    /// Where the sensor can sit, if that was asked.
    public var supportedLocations: [SensorLocation]

    /// A response.
    public init(requestCode: UInt8, result: Result, supportedLocations: [SensorLocation] = []) {
        self.requestCode = requestCode
        self.result = result
        self.supportedLocations = supportedLocations
    }

    /// Reads the codes, the result and the locations.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let code = try reader.uint8("Op Code")
        guard code == Self.code else { throw reader.reserved(code, "Op Code") }
        requestCode = try reader.uint8("Request Op Code")
        let raw = try reader.uint8("Response Value")
        guard let result = Result(rawValue: raw) else { throw reader.reserved(raw, "Response Value") }
        self.result = result
        supportedLocations = []
        while reader.count > 0 { supportedLocations.append(try SensorLocation(from: &reader)) }
    }

    /// Writes the codes, the result and the locations.
    public func write(to writer: inout GATTWriter) {
        writer.append(Self.code)
        writer.append(requestCode, bytes: 1)
        writer.append(result)
        for location in supportedLocations { writer.append(location) }
    }
}
