import CoreBluetoothMock

/// The firmware of a simulated sensor: it answers with its values, and accepts alerts.
///
/// Thread rule: all members may be used from any thread; the hooks are called on a queue of the simulation.
package final class SensorSpecDelegate: CBMPeripheralSpecDelegate {
    private struct Fields {
        var battery: UInt8 = 87
        var humidity: UInt16 = 24_00
        var temperature: Int16 = 21_50
        var alert: UInt8 = 0
        var refusal: CBMError?
        var onSubscription: (() -> Void)?
    }

    private let lock = NSLock()
    // Accessed under the lock.
    private var fields = Fields()

    package init() {}

    /// The level of the battery, in percent.
    package var battery: UInt8 {
        get { lock.withLock { fields.battery } }
        set { lock.withLock { fields.battery = newValue } }
    }

    /// The humidity of the soil, in 0.01 %.
    package var humidity: UInt16 {
        get { lock.withLock { fields.humidity } }
        set { lock.withLock { fields.humidity = newValue } }
    }

    /// The alert that was last received: 0 for none to 2 for high.
    package var alert: UInt8 { lock.withLock { fields.alert } }

    /// The error that connections fail with; nil accepts them.
    package var refusal: CBMError? {
        get { lock.withLock { fields.refusal } }
        set { lock.withLock { fields.refusal = newValue } }
    }

    /// Called when an app has subscribed to the humidity.
    package var onSubscription: (() -> Void)? {
        get { lock.withLock { fields.onSubscription } }
        set { lock.withLock { fields.onSubscription = newValue } }
    }

    /// Restores the initial state.
    package func reset() { lock.withLock { fields = Fields(onSubscription: fields.onSubscription) } }

    package func peripheralDidReceiveConnectionRequest(_ peripheral: CBMPeripheralSpec) -> Result<Void, Error> {
        refusal.map { .failure($0) } ?? .success(())
    }

    package func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, Error> {
        lock.withLock {
            switch characteristic.uuid {
            case .batteryLevel: .success(Data([fields.battery]))
            case .humidity: .success(Data(fields.humidity))
            case .temperature: .success(Data(UInt16(bitPattern: fields.temperature)))
            default: .failure(CBMATTError(.readNotPermitted))
            }
        }
    }

    package func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data
    ) {
        guard characteristic.uuid == .alertLevel, data.count == 1, let level = data.first, level <= 2 else { return }
        lock.withLock { fields.alert = level }
    }

    package func peripheral(
        _ peripheral: CBMPeripheralSpec, didUpdateNotificationStateFor characteristic: CBMCharacteristicMock,
        error: Error?
    ) {
        if error == nil, characteristic.uuid == .humidity, characteristic.isNotifying { onSubscription?() }
    }
}

extension Data {
    /// Encodes a number in two bytes, the least significant first.
    package init(_ number: UInt16) { self.init([UInt8(number & 0xFF), UInt8(number >> 8)]) }
}
