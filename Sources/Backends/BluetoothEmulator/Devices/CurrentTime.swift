import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// An exact clock, in UTC.
    public static let currentTime = currentTime()

    /// A clock that follows the world's time: Current Time.
    ///
    /// Source: Current Time Service 1.1.
    ///
    /// - Parameters:
    ///   - offset: The offset from the world's time; positive if the clock is ahead.
    ///   - timeZone: The time zone in quarters of an hour east of UTC, -48...56.
    ///   - daylightSaving: The daylight saving time in quarters of an hour: 0, 2, 4 or 8.
    public static func currentTime(
        offset: Duration = .zero, timeZone: Int = 0, daylightSaving: Int = 0
    ) -> PeripheralDescription {
        let parameters: [DeviceParameter: Double] = [
            .timeOffset: offset / .seconds(1), .timeZone: Double(timeZone), .daylightSaving: Double(daylightSaving),
        ]
        return builtIn(
            "Clock", "C0:DE:00:00:18:05",
            services: [
                ServiceDescription(
                    "1805",
                    characteristics: [
                        CharacteristicDescription("2A2B", [.read, .write, .notify], maximumLength: 10),
                        CharacteristicDescription("2A0F", [.read, .write], maximumLength: 2),
                        CharacteristicDescription("2A14", .read),
                    ])
            ],
            handler: .currentTime, parameters: parameters.filter { $0.value != 0 })
    }
}

/// A clock that serves the time with its zone, can be set, and notifies adjustments.
///
/// It follows the emulator's time.
public struct CurrentTimeHandler: EmulatedPeripheralHandler {
    /// The settings of the clock.
    public struct State: Hashable, Sendable {
        var clock = SettableClock()
        /// The time zone, in quarters of an hour.
        var timeZone = 0
        /// The daylight saving time, in quarters of an hour.
        var daylightSaving = 0

        /// The difference of the local time from UTC, in seconds.
        var zone: Double { Double((timeZone + daylightSaving) * 900) }

        func time(at date: Date, reason: CurrentTime.AdjustReason = []) -> Data {
            clock.time(at: date, zone: zone, reason: reason).encoded
        }
    }

    /// Creates the handler.
    public init() {}

    /// Creates the settings of an exact clock.
    public func makeState() -> State { State() }

    /// Serves the time, and accepts a new one.
    ///
    /// The clock counts whole seconds and computes the day of the week; other values of these fields are ignored, with
    /// 0x80, "Data Field Ignored" (Current Time Service 1.1, 3.1). An invalid date is refused with 0xFF, "Out of
    /// Range".
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        switch (request.characteristic, request.writtenValue) {
        case ("2A2B", nil): return .value(state.time(at: device.date))
        case ("2A0F", nil):
            return .value(
                Data([UInt8(bitPattern: Int8(clamping: state.timeZone)), UInt8(clamping: state.daylightSaving)]))
        case ("2A14", nil): return .value(state.clock.reference(accuracy: 1, at: device.now).encoded)
        case ("2A2B", let value?): return set(value, &state, &device)
        case ("2A0F", let value?): return setZone(value, &state, &device)
        default: return .stored
        }
    }

    /// Applies changes of the parameters.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        let reason: CurrentTime.AdjustReason
        switch event {
        case .parameterChanged(.timeOffset, let offset):
            state.clock.synchronize(offset: offset, at: device.now)
            reason = .externalReference
        case .parameterChanged(.timeZone, let zone):
            state.timeZone = zone.whole(in: -48...56)
            reason = .timeZone
        case .parameterChanged(.daylightSaving, let offset):
            state.daylightSaving = offset.whole(in: 0...8)
            reason = .daylightSaving
        default: return
        }
        device.notify("2A2B", value: state.time(at: device.date, reason: reason))
    }

    private func set(_ value: Data, _ state: inout State, _ device: inout DeviceActions) -> PeripheralResponse {
        guard value.count == 10 else { return .error(.invalidAttributeValueLength) }
        guard let (date, day) = written(value) else { return .error(0xFF) }
        let rest = [UInt8](value.suffix(3))
        state.clock.set(to: date.timeIntervalSince1970, zone: state.zone, at: device.date, device.now)
        device.notify("2A2B", value: state.time(at: device.date, reason: .manual))
        let knowsDay = rest[0] == 0 || rest[0] == day.rawValue
        return knowsDay && rest[1] == 0 ? .accepted : .error(0x80)
    }

    /// Decodes the written instant and its day of the week; nil for an invalid date.
    private func written(_ value: Data) -> (Date, DayOfWeek)? {
        do throws(GATTValueError) {
            let time = try DateTime(decoding: Data(value.prefix(7)))
            return time.date.map { ($0, DayOfWeek(of: time)) }
        } catch {
            return nil
        }
    }

    private func setZone(_ value: Data, _ state: inout State, _ device: inout DeviceActions) -> PeripheralResponse {
        let bytes = [UInt8](value)
        guard bytes.count == 2 else { return .error(.invalidAttributeValueLength) }
        let zone = Int(Int8(bitPattern: bytes[0]))
        guard (-48...56).contains(zone), [0, 2, 4, 8].contains(bytes[1]) else { return .error(0xFF) }
        var reason: CurrentTime.AdjustReason = []
        if zone != state.timeZone { reason.insert(.timeZone) }
        if Int(bytes[1]) != state.daylightSaving { reason.insert(.daylightSaving) }
        (state.timeZone, state.daylightSaving) = (zone, Int(bytes[1]))
        if !reason.isEmpty { device.notify("2A2B", value: state.time(at: device.date, reason: reason)) }
        return .accepted
    }
}

/// The clock of an emulated device.
public struct EmulatedClock: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it has no such clock.
    public init?(_ device: EmulatedDevice) {
        guard device.has(.timeOffset) else { return nil }
        self.device = device
    }

    /// Sets the offset of the clock, positive if it is ahead; subscribers are notified.
    public func setTimeOffset(_ offset: Duration) { device.set(.timeOffset, to: offset / .seconds(1)) }
}
