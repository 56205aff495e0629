import AsyncBluetooth
import CoreBluetooth

/// A service Environmental Sensing with one value, the temperature of the processor.
struct PiThermometer {
    /// The path of a file with thousandths of a degree Celsius.
    let file: String

    /// The service: the temperature is read, and notified every two seconds while a central subscribes.
    var service: ServedService {
        let temperature = ServedCharacteristic(
            CBUUID(string: "2A6E"), [.read, .notify], onRead: { _ in encodedTemperature() },
            whileSubscribed: { characteristic in
                while true {
                    characteristic.send(encodedTemperature())
                    try await characteristic.sleep(for: .seconds(2))
                }
            })
        return ServedService(CBUUID(string: "181A"), characteristics: [temperature])
    }

    /// Returns hundredths of a degree as `sint16`; 0x8000, "value is not known", without a reading.
    private func encodedTemperature() -> Data {
        let hundredths = celsius().flatMap { Int16(exactly: ($0 * 100).rounded()) } ?? .min
        return withUnsafeBytes(of: hundredths.littleEndian) { Data($0) }
    }

    private func celsius() -> Double? {
        do {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)).map { $0 / 1000 }
        } catch {
            FileHandle.standardError.write(Data("\(file) cannot be read: \(error)\n".utf8))
            return nil
        }
    }
}
