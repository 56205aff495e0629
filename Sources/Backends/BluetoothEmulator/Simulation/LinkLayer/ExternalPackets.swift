import BluetoothBackend
import DequeModule

/// The L2CAP packets between two hosts outside of the emulator: the world carries them without reading them, with the
/// connection events, the losses and the silence of their link.
struct ExternalPackets: Sendable {
    /// The maximum number of packets that wait on one side of a link; a controller has fewer buffers.
    static let limit = 256

    private struct Key: Hashable, Sendable {
        let link: Ref<Link>
        let side: LinkSide
    }

    private struct Packet: Sendable {
        let channel: UInt16
        let payload: [UInt8]

        /// The length with the header, in bytes.
        var length: Int { 4 + payload.count }
    }

    private struct Queue: Sendable {
        var packets = Deque<Packet>()
        /// The number of bytes of the first packet that earlier connection events carried.
        var bytesSent = 0
        var isScheduled = false
    }

    private var queues: [Key: Queue] = [:]

    /// Sends a packet with the next connection event.
    mutating func send(
        _ payload: [UInt8], on channel: UInt16, by side: LinkSide, of ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        guard let link = lower.links[ref] else { return }
        let key = Key(link: ref, side: side)
        // Removed, so that no copy is made.
        var queue = queues.removeValue(forKey: key) ?? Queue()
        defer { queues[key] = queue }
        guard queue.packets.count < Self.limit else {
            return lower.context.log("packet of an external host without a buffer dropped")
        }
        queue.packets.append(Packet(channel: channel, payload: payload))
        guard !queue.isScheduled else { return }
        queue.isScheduled = true
        let event = link.timing.connectionEvent(from: lower.context.now)
        lower.schedule(.externalTransmit(ref, side), on: ref, link, at: event)
    }

    /// Sends as many packets as a connection event carries; the taps get each of them.
    mutating func transmit(_ ref: Ref<Link>, _ side: LinkSide, _ lower: inout LowerLayers) {
        let key = Key(link: ref, side: side)
        let event = WorldEvent.externalTransmit(ref, side)
        guard let link = lower.links[ref],
            lower.links.beginTransmission(event, of: .attributes, by: side, on: ref, &lower.context) != nil,
            var queue = queues.removeValue(forKey: key)
        else { return }
        while let packet = queue.packets.first {
            let sent = lower.links.send(packet.length, from: queue.bytesSent, of: .attributes, by: side, on: ref)
            queue.bytesSent = sent < packet.length ? sent : 0
            guard sent >= packet.length else { break }
            queue.packets.removeFirst()
            lower.context.report(
                .externalPacket(link: ref.serial, from: side, channel: packet.channel, packet.payload))
        }
        queue.isScheduled = !queue.packets.isEmpty
        if queue.isScheduled {
            lower.schedule(event, on: ref, link, at: lower.context.now + link.timing.interval)
        }
        queues[key] = queue
    }

    /// Drops the packets of a link that ended.
    mutating func end(_ ref: Ref<Link>) {
        for side in [LinkSide.central, .peripheral] { queues[Key(link: ref, side: side)] = nil }
    }
}
