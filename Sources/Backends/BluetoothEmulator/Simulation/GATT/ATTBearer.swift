/// The client's and the server's side of ATT on one link.
struct ATTBearer: Sendable {
    var client = LinkClient()
    var server = LinkServer()
}
