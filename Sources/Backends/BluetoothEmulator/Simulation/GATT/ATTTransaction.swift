import BluetoothBackend

/// An operation that reached the server, with the context that serving it needs.
struct ATTTransaction: Sendable {
    var operation: LinkOperation
    let ref: Ref<Link>
    /// The link when the operation reached the server.
    let link: Link

    init(_ operation: LinkOperation, on ref: Ref<Link>, _ link: Link) {
        self.operation = operation
        self.ref = ref
        self.link = link
    }
}
