import BluetoothBackend
import BluetoothSupport

/// A physical link between a host and a device.
///
/// An idle link schedules nothing: the instants of its connection events are computed.
struct Link: Sendable {
    /// The host whose managers form a device.
    struct Server: Sendable {
        let host: Int
        /// The central, as the host's managers know it.
        let central: PeerID
    }

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
    /// The host behind the device; nil for a described device.
    var server: Server?
    /// The central's address, as the device knows it.
    var centralAddress: DeviceAddress?
    /// The error that the central's apps get when the device closes the link.
    var closingError: OpaqueError?

    /// The central, as the managers of the host behind the device know it.
    var central: PeerID? { server?.central }

    /// Returns the central, as the device knows it.
    func centralIdentity(_ hosts: Hosts) -> CentralIdentity {
        let identity = hosts[host].identity
        return CentralIdentity(host: identity.name, address: centralAddress ?? identity.address, mtu: mtu)
    }

    // MARK: Packets

    /// The packets that one side sends, and the link that counts them.
    struct Packets: Sendable {
        /// The earlier of two links between the same hosts, which counts the packets of both directions.
        let counter: Ref<Link>
        /// The sending side of that link.
        let side: LinkSide
        let timing: PacketTiming
        let isEncrypted: Bool
    }

    func packets(_ ref: Ref<Link>, by side: LinkSide) -> Packets {
        let earlier = other.flatMap { $0 < ref ? $0 : nil }
        return Packets(
            counter: earlier ?? ref, side: earlier == nil ? side : side.other, timing: timing.packets,
            isEncrypted: security != .plain)
    }

    // MARK: Silence and parameters

    /// Makes the link silent, unless it is; a link that the device has lost stays silent.
    ///
    /// - Returns: The other direction of the physical link, which also falls silent.
    mutating func fallSilent(_ ref: Ref<Link>, isLost: Bool, _ context: inout WorldContext) -> Ref<Link>? {
        if isLost { supervision.isLost = true }
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

    /// Requests other parameters as the device; a central grants them.
    ///
    /// They are in force after six connection events (Core Specification, Vol 6, Part B, 5.1.1).
    mutating func request(_ parameters: ConnectionParameters, _ ref: Ref<Link>, _ context: inout WorldContext) {
        timing.requested = parameters
        context.queue.schedule(
            .changeParameters(ref), at: timing.connectionEvent(from: context.now) + 6 * timing.interval)
    }

    /// Changes to the requested parameters, unless the link is silent; returns whether there are any.
    mutating func changeParameters(_ ref: Ref<Link>, at now: Nanoseconds) -> Bool {
        guard !supervision.misses(.changeParameters(ref)), let parameters = timing.requested else { return false }
        timing.requested = nil
        timing.change(to: parameters, at: now)
        return true
    }

    /// Takes over the security and the parameters of the other direction.
    mutating func follow(_ other: Link) {
        security = other.security
        timing = other.timing
    }

    /// Returns the additional time of ATT PDUs that are too long for one connection event each.
    func additionalTime(ofATT lengths: [Int]) -> Nanoseconds {
        guard timing.interval > 0 else { return 0 }
        let events = lengths.reduce(0) {
            $0 + timing.packets.additionalEvents(forATT: $1, isEncrypted: security != .plain)
        }
        return Nanoseconds(events) * timing.interval
    }

    // MARK: Ending

    /// Schedules the end that the host requests, once, or that the device requests, with the next connection event.
    ///
    /// - Parameter reason: The reason for the host.
    mutating func close(
        _ ref: Ref<Link>, _ reason: DisconnectReason, with error: OpaqueError?, _ context: inout WorldContext
    ) {
        guard reason == .local else {
            closingError = error
            return context.queue.schedule(.close(ref, reason), at: timing.connectionEvent(from: context.now))
        }
        guard !isClosing else { return }
        isClosing = true
        context.queue.schedule(.close(ref, .local), at: context.now + disconnectionTime(context.configuration))
    }

    /// The time that ending the link takes for its host: at least one connection event, in which the device
    /// acknowledges it.
    ///
    /// Source: Core Specification, Vol 6, Part B, 5.1.6.
    func disconnectionTime(_ configuration: EmulatorConfiguration) -> Nanoseconds {
        max(configuration.disconnectionDelay.nanoseconds, timing.interval)
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
