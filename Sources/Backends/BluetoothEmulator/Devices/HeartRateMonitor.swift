import BluetoothBackend
import BluetoothSupport
import BluetoothValues

extension PeripheralDescription {
    /// A heart rate monitor with a chest strap: Heart Rate, Battery and Device Information.
    ///
    /// Source: Heart Rate Service 1.0, Battery Service 1.1, Device Information Service 1.2 of the Bluetooth SIG.
    public static let heartRateMonitor = heartRateMonitor(batteryLevel: 87)

    /// A heart rate monitor.
    ///
    /// - Parameters:
    ///   - rate: The beats per minute, 0...65,535; nil varies between 60 and 90.
    ///   - batteryLevel: The battery's charge, 0...100 percent.
    ///   - location: The sensor's location: 0 other, 1 chest, 2 wrist, 3 finger, 4 hand, 5 ear lobe, 6 foot.
    ///   - supportsContact: Whether the sensor detects whether it touches the skin.
    public static func heartRateMonitor(
        rate: Int? = nil, batteryLevel: Int, location: UInt8 = 1, supportsContact: Bool = true
    ) -> PeripheralDescription {
        var parameters: [DeviceParameter: Double] = [:]
        if let rate { parameters[.heartRate] = Double(rate) }
        if !supportsContact { parameters[.sensorContactSupported] = 0 }
        return PeripheralDescription(
            name: "Heart Rate Monitor", address: "C0:DE:00:00:18:0D",
            advertising: [
                AdvertisingDescription(
                    AdvertisingData(services: ["180D", "180F", "180A"]),
                    scanResponse: AdvertisingData(localName: "Heart Rate Monitor", txPowerLevel: 0))
            ],
            services: [
                ServiceDescription(
                    "180D",
                    characteristics: [
                        CharacteristicDescription("2A37", .notify, value: Data([0x06, UInt8(clamping: rate ?? 60)])),
                        CharacteristicDescription("2A38", .read, value: Data([location])),
                        CharacteristicDescription("2A39", .write, maximumLength: 1),
                    ]), .battery(level: batteryLevel),
                .deviceInformation(model: "HRM-1"),
            ],
            handler: .heartRate, parameters: parameters)
    }
}

/// A beating heart.
///
/// The handler notifies its rate each second while a central subscribes, with all RR intervals since the last value. It
/// counts the energy expended, which every tenth value contains, and resets it on request.
public struct HeartRateHandler: EmulatedPeripheralHandler {
    /// The counts of the monitor.
    public struct State: Hashable, Sendable {
        var subscribers = Subscribers<BluetoothUUID>()
        /// The beats per minute; nil varies the rate.
        var rate: Int?
        var supportsContact = true
        var hasContact = true
        var sensor = HeartRateSensor()

        mutating func measure() -> HeartRateMeasurement? {
            let rate = rate.map { UInt16($0) } ?? HeartRateSensor.restingRate(sensor.measurements + 1)
            return sensor.measure(rate: rate, hasContact: supportsContact ? hasContact : nil)
        }
    }

    static let pulse = 1

    /// Creates the handler.
    public init() {}

    /// Creates the state with all counts at zero.
    public func makeState() -> State { State() }

    /// Runs requests to the control point: 1 resets the energy expended; all others are refused with 0x80, "Control
    /// Point Not Supported" (Heart Rate Service 1.0, 3.3).
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == "2A39", let value = request.writtenValue else { return .stored }
        guard value == Data([1]) else { return .error(0x80) }
        state.sensor.energy = 0
        return .accepted
    }

    /// Counts beats while a central subscribes.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        BatteryHandler.handle(event, device: &device)
        for change in state.subscribers.apply(event) {
            switch change {
            case .began("2A37"): device.startTimer(Self.pulse, after: .seconds(1), every: .seconds(1))
            case .ended("2A37"): device.stopTimer(Self.pulse)
            default: break
            }
        }
        switch event {
        case .timer(Self.pulse): if let value = state.measure() { device.notify("2A37", value: value.encoded) }
        case .parameterChanged(.heartRate, let rate): state.rate = rate.whole(in: 0...65_535)
        case .parameterChanged(.sensorContact, let contact): state.hasContact = contact >= 0.5
        case .parameterChanged(.sensorContactSupported, let contact): state.supportsContact = contact >= 0.5
        case .parameterChanged(.energyExpended, let energy): state.sensor.energy = UInt16(energy.whole(in: 0...65_535))
        default: break
        }
    }
}

/// The heart rate monitor of an emulated device.
public struct EmulatedHeartRateMonitor: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it is not a heart rate monitor.
    public init?(_ device: EmulatedDevice) {
        guard device.has(.heartRate) else { return nil }
        self.device = device
    }

    /// Sets the heart rate, in beats per minute.
    public func setHeartRate(_ rate: Int) { device.set(.heartRate, to: Double(rate)) }

    /// Attaches the sensor or detaches it.
    public func setSensorContact(_ isTouching: Bool) { device.set(.sensorContact, to: isTouching ? 1 : 0) }
}
