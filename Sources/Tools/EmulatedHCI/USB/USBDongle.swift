import BluetoothHCI

/// A USB dongle for Bluetooth LE as a kernel sees it over USB/IP.
///
/// Commands arrive on the control pipe; events and ACL data wait until the host has submitted transfers for them, so the
/// dongle sends nothing to a host that has suspended it.
///
/// Source: Core Specification, Vol 4, Part B.
struct USBDongle: PacketFraming {
    private var decoder = USBIPDecoder()
    private var control = USBControlPipe()
    private var events = USBInEndpoint(packetSize: USBDescriptors.eventPacketSize)
    private var data = USBInEndpoint(packetSize: USBDescriptors.dataPacketSize)
    private var isOverrun = false

    mutating func receive(_ bytes: ArraySlice<UInt8>) -> ReceivedPackets {
        var received = ReceivedPackets()
        if isOverrun {
            received.failure = "it does not read what its controller sends"
            return received
        }
        decoder.add(bytes)
        do throws(USBIPDecoder.Malformed) {
            while let request = try decoder.next() { perform(request, &received) }
        } catch {
            received.failure = "it sent \(error.reason)"
        }
        return received
    }

    mutating func send(_ packet: HCIPacket) -> [UInt8] {
        let isKept = packet.kind == .acl ? data.add(packet) : events.add(packet)
        // The connection ends with the next bytes of the host.
        if !isKept { isOverrun = true }
        return takeReplies()
    }

    private mutating func takeReplies() -> [UInt8] { events.takeReplies() + data.takeReplies() }

    private mutating func perform(_ request: USBIPRequest, _ received: inout ReceivedPackets) {
        switch request {
        case .unlink(let number, let transfer):
            let isFound = events.unlink(transfer) || data.unlink(transfer)
            received.replies += USBIPReply.unlinked(number, isFound ? .unlinked : .success)
        case .submit(let transfer): perform(transfer, &received)
        }
    }

    private mutating func perform(_ transfer: USBTransfer, _ received: inout ReceivedPackets) {
        let address = transfer.endpoint | (transfer.isIn ? 0x80 : 0)
        switch address {
        case 0, 0x80: performControl(transfer, &received)
        case _ where !control.isReady(address): received.replies += Self.stall(transfer.number)
        case 0x80 | USBDescriptors.eventEndpoint: wait(\.events, transfer, &received)
        case 0x80 | USBDescriptors.dataEndpoint: wait(\.data, transfer, &received)
        case USBDescriptors.dataEndpoint:
            // One transfer contains one packet; an empty one only ends the transfer before it.
            if !transfer.data.isEmpty {
                received.packets.append(HCIPacket(kind: .acl, isReceived: false, body: transfer.data))
            }
            received.replies += accept(transfer)
        default: received.replies += Self.stall(transfer.number)
        }
    }

    private mutating func wait(
        _ endpoint: WritableKeyPath<USBDongle, USBInEndpoint>, _ transfer: USBTransfer,
        _ received: inout ReceivedPackets
    ) {
        guard self[keyPath: endpoint].submit(transfer) else {
            received.failure = "it sent more transfers than the dongle keeps"
            return
        }
        received.replies += takeReplies()
    }

    private mutating func performControl(_ transfer: USBTransfer, _ received: inout ReceivedPackets) {
        switch control.perform(transfer) {
        case .accepted: received.replies += accept(transfer)
        case .stalled: received.replies += Self.stall(transfer.number)
        case .data(let bytes):
            let data = bytes.prefix(transfer.length)
            received.replies += USBIPReply.submitted(transfer.number, .success, transferred: data.count, data: data)
        case .command(let command):
            received.packets.append(HCIPacket(kind: .command, isReceived: false, body: command))
            received.replies += accept(transfer)
        }
        // What has been halted, or belonged to another configuration, waits in vain.
        if !control.isReady(0x80 | USBDescriptors.eventEndpoint) {
            received.replies += events.removeTransfers().flatMap(Self.stall)
        }
        if !control.isReady(0x80 | USBDescriptors.dataEndpoint) {
            received.replies += data.removeTransfers().flatMap(Self.stall)
        }
    }

    private func accept(_ transfer: USBTransfer) -> [UInt8] {
        USBIPReply.submitted(transfer.number, .success, transferred: transfer.data.count)
    }

    private static func stall(_ number: UInt32) -> [UInt8] {
        USBIPReply.submitted(number, .stalled, transferred: 0)
    }
}
