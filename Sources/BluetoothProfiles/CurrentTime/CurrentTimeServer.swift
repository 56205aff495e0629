import BluetoothLocking
public import CoreBluetooth
import Synchronization

/// A clock that this program plays: it follows the radio's time, and can be set.
public final class CurrentTimeServer: ProfileServer {
    private struct State {
        var context: ServerContext?
        /// By how much the clock is fast, in seconds.
        var offset = 0.0
        /// When it was set.
        var updated = Date(timeIntervalSince1970: 0)
        var source = ReferenceTimeInformation.Source.networkTimeProtocol
    }

    /// How the local time differs from UTC.
    public let local: ServedValue<LocalTimeInformation>
    private let time: ServedValue<CurrentTime>
    private let reference: ServedValue<ReferenceTimeInformation>
    private let state: Lock<State>

    /// A clock that is right.
    public init(local: LocalTimeInformation = LocalTimeInformation(timeZone: 0)) {
        let state = Lock(State())
        let zone = ServedValue(CurrentTimeService.local, local)
        self.state = state
        self.local = zone
        time = ServedValue(
            CurrentTimeService.time, compute: { Self.time(state, zone, []) },
            accept: { wanted in
                guard let date = wanted.dateTime.date else {
                    throw CBATTError(CBATTError.Code(rawValue: 0xFF) ?? .unlikelyError)
                }
                state.withLock { state in
                    let now = state.context?.date ?? Date()
                    let wanted = date.timeIntervalSince1970 + Double(wanted.fractions256) / 256
                    state.offset = wanted - now.timeIntervalSince1970 - Self.seconds(zone)
                    state.updated = now
                    state.source = .manual
                }
            })
        reference = ServedValue(
            CurrentTimeService.reference,
            compute: {
                state.withLock { state in
                    let age = (state.context?.date ?? Date()).timeIntervalSince(state.updated) / 3600
                    return ReferenceTimeInformation(
                        source: state.source, hoursSinceUpdate: Int(min(max(age, 0), 1e6)))
                }
            })
    }

    /// Current Time.
    public var service: CBUUID { CurrentTimeService.uuid }
    /// The time, the zone and the reference.
    public var values: [any ServedAttribute] { [time, local, reference] }

    /// Takes the radio's time.
    public func start(_ context: ServerContext) {
        state.withLock { state in
            state.context = context
            if state.source != .manual { state.updated = context.date }
        }
    }

    /// Tells subscribers of the time, and why it was adjusted.
    public func notify(_ reason: CurrentTime.AdjustReason) { time.send(Self.time(state, local, reason)) }

    private static func seconds(_ zone: ServedValue<LocalTimeInformation>) -> Double {
        (zone.value?.offset).map { $0 / .seconds(1) } ?? 0
    }

    private static func time(
        _ state: Lock<State>, _ zone: ServedValue<LocalTimeInformation>, _ reason: CurrentTime.AdjustReason
    ) -> CurrentTime {
        let (now, offset) = state.withLock { ($0.context?.date ?? Date(), $0.offset) }
        let local = now.addingTimeInterval(offset + seconds(zone))
        let fraction = local.timeIntervalSince1970 - local.timeIntervalSince1970.rounded(.down)
        guard let dateTime = DateTime(local) ?? DateTime(Date(timeIntervalSince1970: 0)) else {
            preconditionFailure("1970 is a year")
        }
        return CurrentTime(dateTime, fractions256: UInt8(fraction * 256), adjustReason: reason)
    }
}
