import BluetoothBackend
import BluetoothSupport
import BluetoothValues

extension PeripheralDescription {
    /// A sensor on a moving bicycle, with 60 revolutions of the crank and 180 of the wheel per minute.
    public static let cyclingSpeedAndCadence = cyclingSpeedAndCadence(cadence: 60, wheelRate: 180)

    /// A sensor on a bicycle: Cycling Speed and Cadence, Battery and Device Information.
    ///
    /// Source: Cycling Speed and Cadence Service 1.0.
    ///
    /// - Parameters:
    ///   - cadence: The revolutions of the crank per minute, 0...400.
    ///   - wheelRate: The revolutions of the wheel per minute, 0...2,000.
    public static func cyclingSpeedAndCadence(cadence: Double, wheelRate: Double) -> PeripheralDescription {
        builtIn(
            "Cycling Sensor", "C0:DE:00:00:18:16",
            services: [
                ServiceDescription(
                    "1816",
                    characteristics: [
                        CharacteristicDescription("2A5B", .notify),
                        // The features are wheel revolutions, crank revolutions and several sensor locations.
                        CharacteristicDescription("2A5C", .read, value: Data([0x07, 0])),
                        CharacteristicDescription("2A5D", .read, value: CyclingHandler.locations[0].encoded),
                        CharacteristicDescription("2A55", [.write, .indicate]),
                    ]), .battery(level: 100),
                .deviceInformation(model: "CSC-1"),
            ],
            handler: .cycling, parameters: [.cadence: cadence, .wheelRate: wheelRate])
    }
}

/// A turning wheel and crank.
///
/// The handler notifies both counts each second while a central subscribes, and runs the procedures of the control
/// point, each of which takes a tenth of a second.
public struct CyclingHandler: EmulatedPeripheralHandler {
    /// The counts of the sensor.
    public struct State: Hashable, Sendable {
        var subscribers = Subscribers<BluetoothUUID>()
        var wheel = RevolutionCounter()
        var crank = RevolutionCounter()
        /// The response of the running procedure of the control point.
        var response: Data?
    }

    static let second = 1
    static let procedure = 2
    /// The possible locations; the first one is the initial one.
    static let locations: [SensorLocation] = [.rearWheel, .frontWheel, .leftCrank, .rightCrank, .chainstay, .rearHub]

    /// Creates the handler.
    public init() {}

    /// Creates the state of a bicycle at rest.
    public func makeState() -> State { State() }

    /// Runs the procedures of the control point.
    ///
    /// The error is 0x80, "Procedure Already In Progress", while a procedure runs; it is 0x81, "Client Characteristic
    /// Configuration Descriptor Improperly Configured", if the central does not subscribe to the indications (Cycling
    /// Speed and Cadence Service 1.0, 1.6).
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == "2A55", let order = request.writtenValue else { return .stored }
        guard state.subscribers.contains("2A55", from: request.central) else { return .error(0x81) }
        guard state.response == nil else { return .error(0x80) }
        guard !order.isEmpty else { return .error(.invalidAttributeValueLength) }
        state.response = run(order, &state, &device)
        device.startTimer(Self.procedure, after: .milliseconds(100))
        return .accepted
    }

    /// Turns the wheel and the crank, and notifies while a central subscribes.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        BatteryHandler.handle(event, device: &device)
        for change in state.subscribers.apply(event) {
            switch change {
            case .began("2A5B"): device.startTimer(Self.second, after: .seconds(1), every: .seconds(1))
            case .ended("2A5B"): device.stopTimer(Self.second)
            case .ended("2A55"):
                state.response = nil
                device.stopTimer(Self.procedure)
            default: break
            }
        }
        switch event {
        case .timer(Self.second): device.notify("2A5B", value: measure(&state, at: device.now))
        case .timer(Self.procedure):
            if let response = state.response { device.notify("2A55", value: response) }
            state.response = nil
        case .parameterChanged(.cadence, let rate): state.crank.setRate(rate, at: device.now)
        case .parameterChanged(.wheelRate, let rate): state.wheel.setRate(rate, at: device.now)
        default: break
        }
    }

    private func measure(_ state: inout State, at now: Duration) -> Data {
        state.wheel.turn(until: now)
        state.crank.turn(until: now)
        return CSCMeasurement(wheel: state.wheel.data(), crank: state.crank.data()).encoded
    }

    private func run(_ order: Data, _ state: inout State, _ device: inout DeviceActions) -> Data {
        SCControlPointResponse(
            to: order, locations: Self.locations,
            setValue: { value in
                state.wheel.turn(until: device.now)
                state.wheel.count = UInt64(value)
            },
            setLocation: { device.setValue($0.encoded, of: "2A5D") }
        ).encoded
    }
}

/// The cycling sensor of an emulated device.
public struct EmulatedCyclingSensor: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it is not a cycling sensor.
    public init?(_ device: EmulatedDevice) {
        guard device.has(.cadence) else { return nil }
        self.device = device
    }

    /// Sets the revolutions of the crank and of the wheel per minute.
    public func pedal(cadence: Double, wheelRate: Double) {
        device.set(.cadence, to: cadence)
        device.set(.wheelRate, to: wheelRate)
    }
}
