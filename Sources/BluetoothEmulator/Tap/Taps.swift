/// The taps of an emulator, in the order in which they were made.
struct Taps: Sendable {
    private struct Tap: Sendable {
        let number: UInt64
        let kinds: TapKinds
        let receiver: TapReceiver
        /// Whether it has received the initial state of the world.
        var hasBegun = false
    }

    private var taps: [Tap] = []
    private var last: UInt64 = 0

    var isEmpty: Bool { taps.isEmpty }

    /// The kinds that some tap reports.
    var kinds: TapKinds { taps.reduce(into: []) { $0.formUnion($1.kinds) } }

    /// The receivers that virtual time waits for before it leaves an instant.
    var unsettled: [TapReceiver] { taps.map(\.receiver).filter(\.holdsInstant) }

    /// The receivers that have not received all events, which virtual time waits for where it stops.
    var behind: [TapReceiver] { taps.map(\.receiver).filter(\.isBehind) }

    /// Adds a tap, which gets no event before it begins.
    ///
    /// - Returns: Its number.
    mutating func add(_ receiver: TapReceiver, _ kinds: TapKinds) -> UInt64 {
        last += 1
        taps.append(Tap(number: last, kinds: kinds, receiver: receiver))
        return last
    }

    mutating func remove(_ number: UInt64) -> TapReceiver? {
        guard let position = taps.firstIndex(where: { $0.number == number }) else { return nil }
        return taps.remove(at: position).receiver
    }

    /// A tap begins with events that describe the world.
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
    /// Adds a tap, and lets the world report what some tap wants.
    mutating func addTap(_ receiver: TapReceiver, _ kinds: TapKinds) -> UInt64 {
        let number = taps.add(receiver, kinds)
        world.air.tapped = taps.kinds
        // What has happened before and is not delivered yet comes first, and is not for this tap.
        world.outputs.append(.tapBegins(number, world.presentState))
        virtual.isUnsettled = true
        return number
    }

    /// Delivers what the taps are owed, up to the first output for an app.
    ///
    /// What a caller does between two drives is reported at once, so a world without anything else to do stays idle.
    mutating func deliverTapped() {
        guard !world.air.tapped.isEmpty else { return }
        while let output = world.outputs.first, output.isForTaps {
            _ = dispatch(world.outputs.removeFirst())
            (virtual.isUnsettled, virtual.areTapsUnsettled) = (true, true)
        }
    }

    /// Removes a tap.
    ///
    /// - Returns: Its receiver, to be released outside the lock.
    mutating func removeTap(_ number: UInt64) -> TapReceiver? {
        deliverTapped()
        defer { world.air.tapped = taps.kinds }
        return taps.remove(number)
    }
}
