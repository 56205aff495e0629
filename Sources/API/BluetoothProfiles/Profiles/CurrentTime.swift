public import AsyncBluetooth
public import CoreBluetooth

/// The service Current Time (1805): its characteristics.
///
/// Source: Current Time Service 1.1.
public enum CurrentTimeService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1805")
    /// The time (2A2B).
    public static let time = GATTCharacteristic<CurrentTime>("2A2B", in: "1805", [.read, .write, .notify])
    /// The time zone (2A0F).
    public static let local = GATTCharacteristic<LocalTimeInformation>("2A0F", in: "1805", [.read, .write])
    /// The source of the time (2A14).
    public static let reference = GATTCharacteristic<ReferenceTimeInformation>("2A14", in: "1805", .read)
}

/// A client of another device's clock.
public struct CurrentTimeClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads the time.
    public func time() async throws -> CurrentTime { try await peripheral.read(CurrentTimeService.time) }

    /// Sets the time.
    ///
    /// - Throws: ATT error 0x80, "Data Field Ignored", if the device accepted only a part of it.
    public func setTime(_ time: CurrentTime) async throws {
        try await peripheral.write(time, to: CurrentTimeService.time)
    }

    /// The time after each adjustment.
    public var adjustments: AsyncThrowingMapSequence<ValueSequence<Data>, CurrentTime> {
        peripheral.values(of: CurrentTimeService.time)
    }

    /// Reads the difference of local time from UTC; nil if the device lacks the characteristic.
    public func localTimeInformation() async throws -> LocalTimeInformation? {
        try await peripheral.readIfPresent(CurrentTimeService.local)
    }

    /// Reads the source of the time; nil if the device lacks the characteristic.
    public func referenceTimeInformation() async throws -> ReferenceTimeInformation? {
        try await peripheral.readIfPresent(CurrentTimeService.reference)
    }
}

/// A simulated clock that follows the backend's time and can be set.
public final class CurrentTimeServer: ProfileServer {
    private struct State {
        var clock = SettableClock()
        var context: ServerContext?
    }

    /// The difference of the local time from UTC.
    public let local: ServedValue<LocalTimeInformation>
    private let time: ServedValue<CurrentTime>
    private let reference: ServedValue<ReferenceTimeInformation>
    private let state: SharedState<State>

    /// Creates a clock that shows the backend's time.
    public init(local: LocalTimeInformation = .utc) {
        let state = SharedState(State())
        let zone = ServedValue(CurrentTimeService.local, local)
        self.state = state
        self.local = zone
        time = ServedValue(
            CurrentTimeService.time, compute: { Self.currentTime(state, zone, []) },
            accept: { wanted in
                guard let wantedDate = wanted.dateTime.date else {
                    throw CBATTError(CBATTError.Code(rawValue: 0xFF) ?? .unlikelyError)
                }
                let seconds = wantedDate.timeIntervalSince1970 + Double(wanted.fractions256) / 256
                let (zone, date, now) = (Self.seconds(zone), Self.date(state), Self.now(state))
                state.withLock { $0.clock.set(to: seconds, zone: zone, at: date, now) }
            })
        reference = ServedValue(
            CurrentTimeService.reference,
            compute: {
                let now = Self.now(state)
                return state.withLock { $0.clock.reference(at: now) }
            })
    }

    /// The UUID of the service Current Time.
    public var service: CBUUID { CurrentTimeService.uuid }
    /// The time, the zone and the reference.
    public var values: [any ServedAttribute] { [time, local, reference] }

    /// Follows the backend's time.
    public func start(_ context: ServerContext) {
        let now = context.now
        state.withLock { state in
            state.context = context
            state.clock.started(at: now)
        }
    }

    /// Notifies subscribers of the time and the reason for its adjustment.
    public func notify(_ reason: CurrentTime.AdjustReason) { time.send(Self.currentTime(state, local, reason)) }

    private static func date(_ state: SharedState<State>) -> Date { state.withLock { $0.context }?.date ?? Date() }

    private static func now(_ state: SharedState<State>) -> Duration { state.withLock { $0.context }?.now ?? .zero }

    private static func seconds(_ zone: ServedValue<LocalTimeInformation>) -> Double {
        (zone.value?.offset).map { $0 / .seconds(1) } ?? 0
    }

    private static func currentTime(
        _ state: SharedState<State>, _ zone: ServedValue<LocalTimeInformation>, _ reason: CurrentTime.AdjustReason
    ) -> CurrentTime {
        let clock = state.withLock { $0.clock }
        return clock.time(at: date(state), zone: seconds(zone), reason: reason)
    }
}
