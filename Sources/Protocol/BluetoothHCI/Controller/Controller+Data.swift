/// The flow control from the controller to the host, and the frames of the host that are incomplete.
struct HostFlow: Sendable {
    var isEnabled = false
    /// The length of the data that a buffer of the host has room for.
    var packetLength = Controller.maximumPacketLength
    /// The number of the host's buffers; 0 if it has not said it.
    var packetCount = 0
    var assembler = L2CAPAssembler()
}

/// Data: packets of the host, which are fragments of L2CAP frames, and frames of the Link Layer.
///
/// Source: Core Specification, Vol 4, Part E, 4.1, 5.4.2, 7.3.38 to 7.3.40 and 7.7.19.
extension Controller {
    /// The length of the data in a packet in either direction.
    static let maximumPacketLength = 251
    /// The number of packets that wait for buffers of the host; a link for which more would wait ends.
    static let maximumWaiting = 1024

    // MARK: From the host

    /// Handles a packet; those of unknown links are discarded.
    mutating func receive(acl bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        guard let flags = cursor.littleEndian(UInt16.self), let length = cursor.littleEndian(UInt16.self) else {
            return
        }
        let handle = flags & 0x0FFF
        guard state.links[handle] != nil else { return }
        let pending = state.links.values.reduce(0) { $0 + $1.pendingPackets }
        guard pending < Int(configuration.bufferCount) else {
            // 1: ACL.
            return send(.dataBufferOverflow, [1])
        }
        // 00 begins a frame, and so does 10, which some hosts send as on BR/EDR; 01 continues it. None is broadcast.
        let boundary = flags >> 12
        guard cursor.count == Int(length), cursor.count <= Self.maximumPacketLength, boundary <= 2 else {
            return completePackets(1, handle)
        }
        let isFirst = boundary != 1
        // An incomplete frame is discarded.
        if isFirst { completeHeld(handle) }
        state.links[handle]?.heldPackets += 1
        let frame = state.hostFlow.assembler.add(
            Array(cursor.rest), isFirst: isFirst, host: 0, handle: handle, isReceived: false)
        if let frame {
            let packets = state.links[handle]?.heldPackets ?? 0
            state.links[handle]?.heldPackets = 0
            state.links[handle]?.frames.append(packets)
            output.commands.append(.send(handle: handle, channel: frame.channel, frame.payload))
        } else if pending + 1 == Int(configuration.bufferCount)
            || !state.hostFlow.assembler.isIncomplete(host: 0, handle: handle, isReceived: false)
        {
            // The host could not send the rest of the frame, or there is none.
            completeHeld(handle)
        }
    }

    private mutating func completeHeld(_ handle: UInt16) {
        guard let count = state.links[handle]?.heldPackets, count > 0 else { return }
        state.links[handle]?.heldPackets = 0
        completePackets(count, handle)
    }

    /// Handles the sending of the oldest frame.
    mutating func completeFrame(_ handle: UInt16) {
        guard let count = state.links[handle]?.frames.first else { return }
        state.links[handle]?.frames.removeFirst()
        if count > 0 { completePackets(count, handle) }
    }

    private mutating func completePackets(_ count: Int, _ handle: UInt16) {
        send(.numberOfCompletedPackets, [1] + handle.bytes + UInt16(clamping: count).bytes)
    }

    // MARK: To the host

    /// Handles a frame.
    mutating func deliver(_ payload: [UInt8], _ channel: UInt16, _ handle: UInt16) {
        guard let link = state.links[handle], let length = UInt16(exactly: payload.count) else { return }
        let frame = length.bytes + channel.bytes + payload
        let size = state.hostFlow.packetLength
        let packets = stride(from: 0, to: frame.count, by: size).map { start in
            let part = frame[start..<min(start + size, frame.count)]
            // 10 begins a frame, 01 continues it.
            let flags: UInt16 = start == 0 ? 0x2000 : 0x1000
            return HCIPacket(
                kind: .acl, isReceived: true, body: (handle | flags).bytes + UInt16(part.count).bytes + part)
        }
        guard state.hostFlow.isEnabled else {
            output.packets += packets
            return
        }
        let waiting = state.links.values.reduce(0) { $0 + $1.waiting.count }
        guard waiting + packets.count <= Self.maximumWaiting else {
            // The frame would be missing in a link that promises to lose none.
            if !link.procedures.contains(.disconnect) {
                end(handle, sending: HCIStatus.remoteDeviceTerminatedDueToLowResources.rawValue)
            }
            return
        }
        state.links[handle]?.waiting += packets
        deliverWaiting()
    }

    /// Sends packets as long as the host has buffers, of the links in turn.
    mutating func deliverWaiting() {
        guard state.hostFlow.isEnabled else { return }
        var free = state.hostFlow.packetCount - state.links.values.reduce(0) { $0 + $1.hostPackets }
        var handles = state.links.keys.sorted().filter { state.links[$0]?.waiting.isEmpty == false }
        while free > 0, !handles.isEmpty {
            for handle in handles where free > 0 {
                guard let packet = state.links[handle]?.waiting.first else { continue }
                state.links[handle]?.waiting.removeFirst()
                state.links[handle]?.hostPackets += 1
                output.packets.append(packet)
                free -= 1
            }
            handles.removeAll { state.links[$0]?.waiting.isEmpty == true }
        }
    }

    mutating func setHostFlowControl(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let mode = try cursor.read(in: UInt8(0)...3)
        // 2 and 3 include synchronous data.
        guard mode < 2 else { throw .unsupportedFeatureOrParameterValue }
        guard state.links.isEmpty, mode == 0 || state.hostFlow.packetCount > 0 else { throw .commandDisallowed }
        state.hostFlow.isEnabled = mode == 1
    }

    mutating func setHostBufferSize(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let length = try cursor.read(in: UInt16(27)...UInt16.max)
        // The length of synchronous data.
        _ = try cursor.read(UInt8.self)
        let count = try cursor.read(in: UInt16(1)...UInt16.max)
        state.hostFlow.packetLength = min(Int(length), Self.maximumPacketLength)
        state.hostFlow.packetCount = Int(count)
    }

    /// Handles Host Number Of Completed Packets; those of links that have ended count no more.
    mutating func completeHostPackets(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let count = try cursor.read(UInt8.self)
        guard cursor.count == 4 * Int(count) else { throw .invalidCommandParameters }
        for _ in 0..<count {
            let handle = try cursor.readHandle()
            let completed = Int(try cursor.read(UInt16.self))
            guard let packets = state.links[handle]?.hostPackets else { continue }
            state.links[handle]?.hostPackets = max(0, packets - completed)
        }
        deliverWaiting()
    }
}
