import BluetoothBackend
import BluetoothSupport
import BluetoothValues

extension PeripheralDescription {
    /// A clinical thermometer at 36.6 °C.
    public static let healthThermometer = healthThermometer(temperature: 36.6)

    /// A thermometer: Health Thermometer, Battery and Device Information.
    ///
    /// Source: Health Thermometer Service 1.0.
    ///
    /// - Parameters:
    ///   - temperature: The temperature, -100...300, in degrees Celsius unless `isFahrenheit`.
    ///   - isFahrenheit: Whether the device measures in degrees Fahrenheit.
    ///   - interval: The time between measurements while a central subscribes, 0...3,600 s; 0 stops measuring.
    ///   - type: The place of the measurement: 1 armpit, 2 body, 3 ear, 4 finger, 5 gastrointestinal, 6 mouth, 7
    ///     rectum, 8 toe, 9 ear drum.
    public static func healthThermometer(
        temperature: Double, isFahrenheit: Bool = false, interval: UInt16 = 10, type: UInt8 = 2
    ) -> PeripheralDescription {
        builtIn(
            "Thermometer", "C0:DE:00:00:18:09",
            services: [
                ServiceDescription(
                    "1809",
                    characteristics: [
                        CharacteristicDescription("2A1C", .indicate),
                        CharacteristicDescription("2A1D", .read, value: Data([type])),
                        CharacteristicDescription("2A1E", .notify),
                        CharacteristicDescription(
                            "2A21", [.read, .write, .indicate], value: interval.littleEndianBytes, maximumLength: 2,
                            descriptors: [DescriptorDescription("2906", value: ThermometerHandler.validRange)]),
                    ]), .battery(level: 100),
                .deviceInformation(model: "THM-1"),
            ],
            handler: .healthThermometer,
            parameters: [
                .temperature: temperature, .fahrenheit: isFahrenheit ? 1 : 0, .measurementInterval: Double(interval),
            ])
    }
}

/// A measuring thermometer.
///
/// The handler indicates a measurement with its date at each interval while a central subscribes, notifies the
/// intermediate temperature each second, and accepts another interval within its valid range.
public struct ThermometerHandler: EmulatedPeripheralHandler {
    /// The settings of the thermometer.
    public struct State: Hashable, Sendable {
        var subscribers = Subscribers<BluetoothUUID>()
        var temperature = 36.6
        var isFahrenheit = false
        /// The time between measurements, in seconds.
        var interval: UInt16 = 10
    }

    static let measurement = 1
    static let intermediate = 2
    /// The valid intervals, 1...3,600 s.
    static let validRange = UInt16(1).littleEndianBytes + UInt16(3_600).littleEndianBytes

    /// Creates the handler.
    public init() {}

    /// Creates the settings of a thermometer at 36.6 °C that measures every ten seconds.
    public func makeState() -> State { State() }

    /// Accepts an interval of 1...3,600 s; others are refused with 0x80, "Out Of Range" (Health Thermometer Service
    /// 1.0, 3.4).
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == "2A21", let value = request.writtenValue else { return .stored }
        guard value.count == 2 else { return .error(.invalidAttributeValueLength) }
        let interval = value.reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        guard (1...3_600).contains(interval) else { return .error(0x80) }
        change(interval, &state, &device)
        return .accepted
    }

    /// Measures while a central subscribes.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        BatteryHandler.handle(event, device: &device)
        for change in state.subscribers.apply(event) {
            switch change {
            case .began("2A1C"): startMeasuring(state, &device)
            case .ended("2A1C"): device.stopTimer(Self.measurement)
            case .began("2A1E"): device.startTimer(Self.intermediate, after: .seconds(1), every: .seconds(1))
            case .ended("2A1E"): device.stopTimer(Self.intermediate)
            default: break
            }
        }
        switch event {
        case .timer(Self.measurement): device.notify("2A1C", value: value(state, at: device.date))
        case .timer(Self.intermediate): device.notify("2A1E", value: value(state, at: nil))
        case .parameterChanged(.temperature, let temperature): state.temperature = temperature
        case .parameterChanged(.fahrenheit, let flag): state.isFahrenheit = flag >= 0.5
        case .parameterChanged(.measurementInterval, let interval):
            change(UInt16(interval.whole(in: 0...65_535)), &state, &device)
        default: break
        }
    }

    /// Changes the interval, which is indicated.
    private func change(_ interval: UInt16, _ state: inout State, _ device: inout DeviceActions) {
        guard interval != state.interval else { return }
        state.interval = interval
        device.notify("2A21", value: interval.littleEndianBytes)
        if state.subscribers.contains("2A1C") { startMeasuring(state, &device) }
    }

    private func startMeasuring(_ state: State, _ device: inout DeviceActions) {
        guard state.interval > 0 else { return device.stopTimer(Self.measurement) }
        let interval = Duration.seconds(Int(state.interval))
        device.startTimer(Self.measurement, after: interval, every: interval)
    }

    /// Encodes the temperature with one decimal and, optionally, the date.
    ///
    /// The temperature type never changes, so 2A1D contains it.
    private func value(_ state: State, at date: Date?) -> Data {
        TemperatureMeasurement(
            MedicalFloat(measured: state.temperature), unit: state.isFahrenheit ? .fahrenheit : .celsius,
            timestamp: date.map { DateTime(clamping: $0) }
        ).encoded
    }
}

/// The thermometer of an emulated device.
public struct EmulatedThermometer: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it is not a thermometer.
    public init?(_ device: EmulatedDevice) {
        guard device.has(.temperature) else { return nil }
        self.device = device
    }

    /// Sets the temperature, in the device's unit, for the next measurement.
    public func setTemperature(_ temperature: Double) { device.set(.temperature, to: temperature) }
}
