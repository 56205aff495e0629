import BluetoothBackend

/// A physical link between a host and a device.
///
/// An idle link schedules nothing: the instants of its connection events are computed.
struct Link: Sendable {
    let host: Int
    let device: Ref<Device>
    let peer: PeerID
    /// The same physical link in the other direction, if two hosts are connected to each other.
    var other: Ref<Link>?
    var mtu: Int
    /// Whether the host is ending the link.
    var isClosing = false
    var timing: LinkTiming
    var supervision = LinkSupervision()
    var security = SecurityLevel.plain
    /// The central, as the managers of a host that serves know it.
    var central: PeerID?
    /// The central's address, as the device knows it.
    var centralAddress: DeviceAddress?
    /// The error that the central's apps get when the device closes the link.
    var closingError: OpaqueError?

    /// Sends bytes, as many as fit into the present connection event.
    ///
    /// - Returns: The offset of the first unsent byte.
    mutating func send(
        _ length: Int, from offset: Int, of sender: ConnectionEventPackets.Sender, by side: LinkSide
    ) -> Int {
        timing.event.send(length, from: offset, of: sender, by: side, timing.packets, isEncrypted: security != .plain)
    }

    // MARK: Silence and parameters

    /// Makes the link silent, unless it is.
    ///
    /// - Returns: The other direction of the physical link, which also falls silent.
    mutating func fallSilent(_ ref: Ref<Link>, _ context: inout WorldContext) -> Ref<Link>? {
        guard !supervision.isSilent else { return nil }
        supervision.fallSilent(
            until: context.queue.scheduleCancellable(.supervision(ref), at: context.now + timing.supervisionTimeout))
        return other
    }

    /// Ends the silence, unless the device has lost the link; missed events happen with the next connection event.
    ///
    /// - Returns: The other direction of the physical link, which is also heard again.
    mutating func hearAgain(_ context: inout WorldContext) -> Ref<Link>? {
        guard supervision.isSilent, !supervision.isLost else { return nil }
        let (missed, timeout) = supervision.recover()
        if let timeout { context.queue.cancel(timeout) }
        for event in missed { context.queue.schedule(event, at: timing.connectionEvent(from: context.now)) }
        return other
    }

    /// Returns the instant at which requested parameters will be in force.
    mutating func request(_ parameters: ConnectionParameters, at now: Nanoseconds) -> Nanoseconds {
        timing.requested = parameters
        return timing.connectionEvent(from: now) + 6 * timing.interval
    }

    /// Changes to the requested parameters; returns whether there are any.
    mutating func changeParameters(at now: Nanoseconds) -> Bool {
        guard let parameters = timing.requested else { return false }
        timing.requested = nil
        timing.change(to: parameters, at: now)
        return true
    }

    /// Takes over the properties of the physical link from the existing link in the other direction.
    mutating func share(_ existing: Link, _ ref: Ref<Link>) {
        other = ref
        timing = existing.timing
        mtu = existing.mtu
    }

    /// Takes over the security and the parameters of the other direction.
    mutating func follow(_ other: Link) {
        security = other.security
        timing = other.timing
    }

    /// Ends the relation to the other direction.
    mutating func takeOther() -> Ref<Link>? {
        defer { other = nil }
        return other
    }

    /// Returns the other direction if it is earlier than this link, with this link's packets.
    func earlier(than ref: Ref<Link>) -> (Ref<Link>, later: (timing: PacketTiming, isEncrypted: Bool))? {
        guard let other, other < ref else { return nil }
        return (other, (timing.packets, security != .plain))
    }

    /// Marks the link as ending; returns whether it was not.
    mutating func beginClosing() -> Bool {
        defer { isClosing = true }
        return !isClosing
    }

    /// The properties on which lost packets depend; a single access, because each packet needs them.
    var deviceAndTiming: (Ref<Device>, LinkTiming) { (device, timing) }

    /// Returns the additional time of ATT PDUs that are too long for one connection event each.
    func additionalTime(ofATT lengths: [Int]) -> Nanoseconds {
        guard timing.interval > 0 else { return 0 }
        let events = lengths.reduce(0) {
            $0 + timing.packets.additionalEvents(forATT: $1, isEncrypted: security != .plain)
        }
        return Nanoseconds(events) * timing.interval
    }
}

/// One end of a link.
package enum LinkSide: Hashable, Sendable {
    case central
    case peripheral

    package var other: LinkSide { self == .central ? .peripheral : .central }
}

/// The state of a link's packets, and the events that wait until packets arrive again.
struct LinkSupervision: Sendable {
    /// Whether no packet arrives, because the device is out of range.
    private(set) var isSilent = false
    /// Whether the device has lost the link, which ends by supervision timeout.
    var isLost = false
    var timeout: WorldQueue.Token?
    /// The events that were deferred while the link was silent.
    private var missed: [WorldEvent] = []

    /// Defers an event of a silent link.
    ///
    /// - Returns: Whether the link is silent.
    mutating func misses(_ event: WorldEvent) -> Bool {
        if isSilent { missed.append(event) }
        return isSilent
    }

    mutating func fallSilent(until timeout: WorldQueue.Token) {
        isSilent = true
        self.timeout = timeout
    }

    /// Ends the silence.
    ///
    /// - Returns: The deferred events, and the timeout to cancel.
    mutating func recover() -> (missed: [WorldEvent], timeout: WorldQueue.Token?) {
        defer { self = LinkSupervision() }
        return (missed, timeout)
    }
}
