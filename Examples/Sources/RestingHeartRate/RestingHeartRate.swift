import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

/// A measurement of the heart rate of someone at rest.
///
/// Async app code that uses no emulator, and needs no change to be tested.
package enum RestingHeartRate {
    /// Returns the average of the next values of the first monitor that is found, in beats per minute.
    ///
    /// A monitor sends about one value each second.
    ///
    /// - Parameters:
    ///   - count: The number of values, at least one.
    ///   - limit: The time limit.
    /// - Returns: nil if the monitor sends no value.
    /// - Throws: `BluetoothError`, also at the time limit.
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
