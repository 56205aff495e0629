import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothValues

// The Attribute Protocol.
extension PacketCapture {
    private static let channel: UInt16 = 0x0004

    mutating func handleATT(_ event: TapEvent.Kind, at now: Duration) {
        switch event {
        case .mtuChanged(let link, let mtu):
            links[link]?.mtu = mtu
            sendMTUExchange(of: link, mtu: mtu, at: now, comment: nil)
        case .att(let link, .request(let request, let sentAt)):
            links[link]?.request = (request, sentAt)
            order.open(link, since: sentAt)
        case .att(let link, .response(let response)): complete(link, response, at: now)
        case .att(let link, .command(let handle, let value)):
            discover(handle, on: link, at: now)
            send(.writeCommand(handle, Array(value)), of: link, from: .central, at: now)
        case .att(let link, .notification(let handle, let value)):
            discover(handle, on: link, at: now)
            send(.notification(handle, clipped(value, on: link)), of: link, from: .peripheral, at: now)
        case .att(let link, .indication(let handle, let value)):
            discover(handle, on: link, at: now)
            send(.indication(handle, clipped(value, on: link)), of: link, from: .peripheral, at: now)
            send(.confirmation, of: link, from: .central, at: now)
        default: break
        }
    }

    /// Returns the bytes of a value that fit into a packet.
    private func clipped(_ value: Data, on link: UInt32) -> [UInt8] {
        Array(value.prefix(ATTLimits.written(mtu: links[link]?.mtu ?? ATTLimits.minimumMTU)))
    }

    mutating func send(
        _ packet: ATTPDU, of link: UInt32, from side: LinkSide, at time: Duration, comment: String? = nil
    ) {
        send(packet.bytes, on: Self.channel, of: link, from: side, at: time, comment: comment)
    }

    /// Completes a procedure with its response; its packets are distributed between the request and now.
    private mutating func complete(_ link: UInt32, _ response: ATTResponse, at now: Duration) {
        guard let mtu = links[link]?.mtu, let (request, sentAt) = links[link]?.request.take() else { return }
        order.close(link)
        let exchanges = ATTProcedure(request, mtu: mtu).exchanges(response)
        guard !exchanges.isEmpty else { return }
        if let handle = request.valueHandle { discover(handle, on: link, at: sentAt) }
        links[link]?.knownHandles.formUnion(response.handles)
        let step = max(.zero, now - sentAt) / exchanges.count
        for (index, exchange) in exchanges.enumerated() {
            let isLast = index == exchanges.count - 1
            send(exchange.request, of: link, from: .central, at: sentAt + step * index)
            send(exchange.response, of: link, from: .peripheral, at: isLast ? now : sentAt + step * (index + 1))
        }
    }

    /// Writes the request of a link that ended before the response.
    mutating func dropRequest(of link: UInt32) {
        order.close(link)
        guard let mtu = links[link]?.mtu, let (request, sentAt) = links[link]?.request.take() else { return }
        if let handle = request.valueHandle { discover(handle, on: link, at: sentAt) }
        send(ATTProcedure(request, mtu: mtu).firstRequest, of: link, from: .central, at: sentAt)
    }

    mutating func sendMTUExchange(of link: UInt32, mtu: Int, at now: Duration, comment: String?) {
        send(.mtuRequest(UInt16(clamping: mtu)), of: link, from: .central, at: now, comment: comment)
        send(.mtuResponse(UInt16(clamping: mtu)), of: link, from: .peripheral, at: now, comment: comment)
    }
}
