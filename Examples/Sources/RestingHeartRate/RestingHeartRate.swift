import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

/// Measures the heart rate of someone at rest.
///
/// An app's code, which awaits and knows nothing of emulators: its tests need no change in it.
package enum RestingHeartRate {
    /// The average of the next values of the first monitor that is found, in beats per minute.
    ///
    /// A monitor sends about one value each second.
    ///
    /// - Parameters:
    ///   - count: How many values, at least one.
    ///   - limit: The most time that it may take.
    /// - Returns: nil where the monitor sends none.
    /// - Throws: `BluetoothError`, also at the limit.
    package static func average(of count: Int = 60, within limit: Duration = .seconds(120)) async throws -> Int? {
        try await withTimeout(limit) {
            var rates: [Int] = []
            for try await found in Central().scan(for: [HeartRateService.uuid]) {
                for try await measurement in HeartRateClient(found.peripheral).measurements {
                    rates.append(Int(measurement.rate))
                    if rates.count == count { break }
                }
                break
            }
            return rates.isEmpty ? nil : rates.reduce(0, +) / rates.count
        }
    }
}
