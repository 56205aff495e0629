import BluetoothBackend

/// An operation that reached the server, with the context that serving it needs.
struct ATTTransaction: Sendable {
    let operation: LinkOperation
    let ref: Ref<Link>
    let host: Int
    let peer: PeerID
    let device: Ref<Device>
    let interval: Nanoseconds
    let mtu: Int
    let security: SecurityLevel

    init(_ operation: LinkOperation, on ref: Ref<Link>, _ link: Link) {
        self.operation = operation
        self.ref = ref
        host = link.host
        peer = link.peer
        device = link.device
        interval = link.timing.interval
        mtu = link.mtu
        security = link.security
    }
}
