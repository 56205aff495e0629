import BluetoothEmulator

/// A tap that keeps its events.
final class TapRecorder: Sendable {
    private let sink: CollectingSink<TapEvent>
    private let tap: EmulatorTap

    init(_ emulator: Emulator, _ kinds: TapKinds = .all) {
        let sink = CollectingSink<TapEvent>()
        self.sink = sink
        tap = emulator.tap(kinds) { sink.deliver($0) }
    }

    var events: [TapEvent] { sink.events }

    /// Returns the kinds of the events since the tap began, or after the first `count` events.
    func kinds(from count: Int? = nil) -> [TapEvent.Kind] {
        let kinds = events.map(\.kind)
        return Array(kinds.dropFirst(count ?? (kinds.firstIndex(of: .began) ?? -1) + 1))
    }

    /// Returns the ATT messages after the first `count` events.
    func att(from count: Int = 0) -> [ATTMessage] {
        kinds(from: count).compactMap { kind in
            if case .att(_, let message) = kind { message } else { nil }
        }
    }

    func cancel() { tap.cancel() }
}
