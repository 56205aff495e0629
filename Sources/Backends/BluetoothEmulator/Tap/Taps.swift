/// The taps of an emulator, in the order of their creation.
struct Taps: Sendable {
    private struct Tap: Sendable {
        let number: UInt64
        let kinds: TapKinds
        let receiver: TapReceiver
        /// Whether the tap has received the initial state of the world.
        var hasBegun = false
    }

    private var taps: [Tap] = []
    private var last: UInt64 = 0

    var isEmpty: Bool { taps.isEmpty }

    /// The kinds that some tap reports.
    var kinds: TapKinds { taps.reduce(into: []) { $0.formUnion($1.kinds) } }

    /// The receivers that virtual time waits for before it leaves an instant.
    var unsettled: [TapReceiver] { taps.map(\.receiver).filter(\.holdsInstant) }

    /// The receivers with events still to be received, for which virtual time waits when it stops.
    var behind: [TapReceiver] { taps.map(\.receiver).filter(\.isBehind) }

    /// Adds a tap, which receives no event before it begins.
    ///
    /// - Returns: The tap's number.
    mutating func add(_ receiver: TapReceiver, _ kinds: TapKinds) -> UInt64 {
        last += 1
        taps.append(Tap(number: last, kinds: kinds, receiver: receiver))
        return last
    }

    mutating func remove(_ number: UInt64) -> TapReceiver? {
        guard let position = taps.firstIndex(where: { $0.number == number }) else { return nil }
        return taps.remove(at: position).receiver
    }

    /// Begins a tap with events that describe the world.
    mutating func begin(_ number: UInt64, with events: [TapEvent]) {
        guard let position = taps.firstIndex(where: { $0.number == number }) else { return }
        taps[position].hasBegun = true
        for event in events { deliver(event, to: taps[position]) }
    }

    func deliver(_ event: TapEvent) {
        for tap in taps where tap.hasBegun { deliver(event, to: tap) }
    }

    private func deliver(_ event: TapEvent, to tap: Tap) {
        let kinds = event.kind.kinds
        if kinds.isSubset(of: tap.kinds) { tap.receiver.deliver(event) }
    }
}

extension EmulatorCore {
    /// Adds a tap, and lets the world report the kinds that the taps request.
    mutating func addTap(_ receiver: TapReceiver, _ kinds: TapKinds) -> UInt64 {
        let number = taps.add(receiver, kinds)
        world.lower.context.tapped = taps.kinds
        // Earlier events that are not delivered yet precede this output, and do not go to the new tap.
        world.lower.context.outputs.append(.tapBegins(number, world.presentState))
        virtual.isUnsettled = true
        return number
    }

    /// Delivers pending tap events, up to the first output for an app.
    ///
    /// Changes between two drives are reported at once, so a world without other work stays idle.
    mutating func deliverTapped() {
        guard !world.lower.context.tapped.isEmpty else { return }
        while let output = world.lower.context.outputs.first, output.isForTaps {
            _ = dispatch(world.lower.context.outputs.removeFirst())
            (virtual.isUnsettled, virtual.areTapsUnsettled) = (true, true)
        }
    }

    /// Removes a tap.
    ///
    /// - Returns: The tap's receiver, which must be released outside the lock.
    mutating func removeTap(_ number: UInt64) -> TapReceiver? {
        deliverTapped()
        defer { world.lower.context.tapped = taps.kinds }
        return taps.remove(number)
    }
}
