import BluetoothEmulator

/// The kind of operation that a packet of a link belongs to.
package enum LiveOperation: String, Codable, Hashable, Sendable {
    case read, write, notify, discover
    /// Data of an L2CAP channel.
    case channel

    /// - Parameter request: The request that a response answers, if it was observed.
    init(_ message: ATTMessage, answering request: ATTRequest?) {
        self =
            switch message {
            case .request(let request, _): Self(request)
            case .response: request.map(Self.init) ?? .discover
            case .command: .write
            case .notification, .indication: .notify
            }
    }

    private init(_ request: ATTRequest) {
        self =
            switch request {
            case .read: .read
            case .write: .write
            default: .discover
            }
    }
}
