import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A clock that is right, in UTC.
    public static let currentTime = currentTime()

    /// A clock that follows the world's time: Current Time.
    ///
    /// Source: Current Time Service 1.1.
    ///
    /// - Parameters:
    ///   - offset: By how much it is fast.
    ///   - timeZone: Quarters of an hour east of UTC, -48...56.
    ///   - daylightSaving: Quarters of an hour: 0, 2, 4 or 8.
    public static func currentTime(
        offset: Duration = .zero, timeZone: Int = 0, daylightSaving: Int = 0
    ) -> PeripheralDescription {
        let parameters: [DeviceParameter: Double] = [
            .timeOffset: offset / .seconds(1), .timeZone: Double(timeZone), .daylightSaving: Double(daylightSaving),
        ]
        return PeripheralDescription(
            name: "Clock", address: "C0:DE:00:00:18:05",
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Clock", services: ["1805"]))],
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

/// A clock: tells the time with its zone, lets itself be set, and notifies when it was.
///
/// Virtual time drives it, as all else.
public struct CurrentTimeHandler: EmulatedPeripheralHandler {
    /// What the clock knows.
    public struct State: Hashable, Sendable {
        /// By how much it is fast, in seconds.
        var offset = 0.0
        /// In quarters of an hour.
        var timeZone = 0
        /// In quarters of an hour.
        var daylightSaving = 0
        /// When it was last set by a reference.
        var updated = Duration.zero
        /// Who set it last: 0 unknown, 1 network time, 4 manual (GATT Specification Supplement, Time Source).
        var source: UInt8 = 1
    }

    /// Why a value is notified (Current Time Service 1.1, 3.1.1.3).
    enum Reason {
        static let manual: UInt8 = 0x01
        static let reference: UInt8 = 0x02
        static let timeZone: UInt8 = 0x04
        static let daylightSaving: UInt8 = 0x08
    }

    /// A clock.
    public init() {}

    /// A clock that is right.
    public func makeState() -> State { State() }

    /// Tells the time, and takes another.
    ///
    /// The clock counts whole seconds and finds the day of the week by itself: what a writer says otherwise is ignored,
    /// with 0x80, "Data Field Ignored" (Current Time Service 1.1, 3.1). What is no date is refused with 0xFF, "Out of
    /// Range".
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        switch (request.characteristic, request.writtenValue) {
        case ("2A2B", nil): return .value(time(state, at: device.date, reason: 0))
        case ("2A0F", nil):
            return .value(
                Data([UInt8(bitPattern: Int8(clamping: state.timeZone)), UInt8(clamping: state.daylightSaving)]))
        case ("2A14", nil):
            let hours = Int((device.now - state.updated) / .seconds(3600))
            // An accuracy of 1/8 s; 255 days or more are 255 days and 255 hours.
            let age = hours < 255 * 24 ? [UInt8(hours / 24), UInt8(hours % 24)] : [255, 255]
            return .value(Data([state.source, 1] + age))
        case ("2A2B", let value?): return set(value, &state, &device)
        case ("2A0F", let value?): return setZone(value, &state, &device)
        default: return .stored
        }
    }

    /// Follows its parameters.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        let reason: UInt8
        switch event {
        case .parameterChanged(.timeOffset, let offset):
            (state.offset, state.source, state.updated) = (offset, 1, device.now)
            reason = Reason.reference
        case .parameterChanged(.timeZone, let zone):
            state.timeZone = zone.whole(in: -48...56)
            reason = Reason.timeZone
        case .parameterChanged(.daylightSaving, let offset):
            state.daylightSaving = offset.whole(in: 0...8)
            reason = Reason.daylightSaving
        default: return
        }
        device.notify("2A2B", value: time(state, at: device.date, reason: reason))
    }

    private func set(_ value: Data, _ state: inout State, _ device: inout DeviceActions) -> PeripheralResponse {
        guard value.count == 10 else { return .error(.invalidAttributeValueLength) }
        guard let wanted = DateTime(Data(value.prefix(7))) else { return .error(0xFF) }
        let rest = [UInt8](value.suffix(3))
        state.offset += Double(wanted.secondsSince1970) - local(state, at: device.date)
        (state.source, state.updated) = (4, device.now)
        device.notify("2A2B", value: time(state, at: device.date, reason: Reason.manual))
        let knowsDay = rest[0] == 0 || rest[0] == wanted.dayOfWeek
        return knowsDay && rest[1] == 0 ? .accepted : .error(0x80)
    }

    private func setZone(_ value: Data, _ state: inout State, _ device: inout DeviceActions) -> PeripheralResponse {
        let bytes = [UInt8](value)
        guard bytes.count == 2 else { return .error(.invalidAttributeValueLength) }
        let zone = Int(Int8(bitPattern: bytes[0]))
        guard (-48...56).contains(zone), [0, 2, 4, 8].contains(bytes[1]) else { return .error(0xFF) }
        var reason: UInt8 = 0
        if zone != state.timeZone { reason |= Reason.timeZone }
        if Int(bytes[1]) != state.daylightSaving { reason |= Reason.daylightSaving }
        (state.timeZone, state.daylightSaving) = (zone, Int(bytes[1]))
        if reason != 0 { device.notify("2A2B", value: time(state, at: device.date, reason: reason)) }
        return .accepted
    }

    /// The local time in seconds since the beginning of 1970.
    private func local(_ state: State, at date: Date) -> Double {
        date.timeIntervalSince1970 + state.offset + Double((state.timeZone + state.daylightSaving) * 900)
    }

    /// Exact Time 256 and the reason.
    private func time(_ state: State, at date: Date, reason: UInt8) -> Data {
        let seconds = local(state, at: date)
        let whole = seconds.rounded(.down)
        let time = DateTime(secondsSince1970: whole.whole(in: -62_000_000_000...250_000_000_000))
        return time.data + [time.dayOfWeek, UInt8(((seconds - whole) * 256).rounded(.down).whole(in: 0...255)), reason]
    }
}
