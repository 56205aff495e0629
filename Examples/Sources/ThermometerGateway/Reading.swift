import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

/// One line of output.
struct Reading: Encodable {
    let time: Date
    let thermometer: UUID
    let name: String?
    /// The temperature; missing if the thermometer measured nothing.
    let celsius: Double?

    init(_ thermometer: Peripheral, _ measurement: TemperatureMeasurement) {
        time = Date()
        self.thermometer = thermometer.identifier
        name = thermometer.name
        celsius = measurement.celsius.isFinite ? measurement.celsius : nil
    }

    /// Prints the line on standard output.
    func write() {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .sortedKeys
        do {
            FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
        } catch {
            FileHandle.standardError.write(Data("A reading could not be written: \(error)\n".utf8))
        }
    }
}
