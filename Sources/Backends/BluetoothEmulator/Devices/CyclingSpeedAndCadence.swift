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
                        CharacteristicDescription("2A5D", .read, value: Data([CyclingHandler.locations[0]])),
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
        var subscribers = Subscribers()
        var wheel = Revolutions()
        var crank = Revolutions()
        /// The response of the running procedure of the control point.
        var response: Data?
    }

    static let second = 1
    static let procedure = 2
    /// Other, top of shoe, hip, front wheel, left crank, rear wheel; the first location is the initial one.
    static let locations: [UInt8] = [12, 4, 5, 6, 11, 13]

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

    /// Encodes flags, the wheel's revolutions and their last instant, and the crank's revolutions and their last
    /// instant.
    ///
    /// Source: Cycling Speed and Cadence Service 1.0, 3.1.1.
    private func measure(_ state: inout State, at now: Duration) -> Data {
        state.wheel.turn(until: now)
        state.crank.turn(until: now)
        var value = GATTWriter()
        value.append(UInt8(0x03))
        value.append(UInt32(truncatingIfNeeded: state.wheel.count))
        value.append(state.wheel.lastEvent)
        value.append(UInt16(truncatingIfNeeded: state.crank.count))
        value.append(state.crank.lastEvent)
        return value.data
    }

    /// Runs a procedure and returns its response: 1 for success, 2 for an unknown procedure, 3 for an invalid
    /// parameter.
    ///
    /// Source: Cycling Speed and Cadence Service 1.0, 3.4.
    private func run(_ order: Data, _ state: inout State, _ device: inout DeviceActions) -> Data {
        let code = order.first ?? 0
        func response(_ result: UInt8, _ parameter: [UInt8] = []) -> Data { Data([0x10, code, result] + parameter) }
        switch code {
        case 1:  // Set Cumulative Value, of the wheel
            guard order.count == 5 else { return response(3) }
            state.wheel.turn(until: device.now)
            state.wheel.count = order.dropFirst().reversed().reduce(0) { $0 << 8 | UInt64($1) }
            return response(1)
        case 3:  // Update Sensor Location
            guard order.count == 2, let location = order.last, Self.locations.contains(location) else {
                return response(3)
            }
            device.setValue(Data([location]), of: "2A5D")
            return response(1)
        case 4:  // Request Supported Sensor Locations
            return order.count == 1 ? response(1, Self.locations) : response(3)
        default: return response(2)
        }
    }
}

/// A part that turns at a rate, with the instant of its last revolution.
struct Revolutions: Hashable, Sendable {
    var count: UInt64 = 0
    /// The instant of the last revolution in 1/1024 s, which wraps around every 64 s.
    private(set) var lastEvent: UInt16 = 0
    /// The rate, in revolutions per minute.
    private var rate = 0.0
    /// The completed part of the present revolution, 0..<1.
    private var part = 0.0
    private var time = Duration.zero

    /// Changes the rate from this instant on.
    mutating func setRate(_ perMinute: Double, at now: Duration) {
        turn(until: now)
        rate = perMinute
    }

    /// Turns until an instant.
    mutating func turn(until now: Duration) {
        let seconds = (now - time) / .seconds(1)
        time = now
        guard rate > 0, seconds > 0 else { return }
        // Without this rounding, whole revolutions would be missed, because rates are per minute.
        let turned = part + (seconds * rate / 60 * 1e9).rounded() / 1e9
        part = turned - turned.rounded(.down)
        guard turned >= 1 else { return }
        count += UInt64(turned.rounded(.down).whole(in: 0...Int(UInt32.max)))
        let event = now / .seconds(1) - part * 60 / rate
        lastEvent = UInt16(truncatingIfNeeded: (event * 1024).whole(in: 0 ... .max))
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
