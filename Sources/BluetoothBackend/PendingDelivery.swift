/// Events that wait in a mailbox whose queue does not know of them yet.
///
/// Whoever gets one starts it or runs it, once; until then nothing that goes into that mailbox is handled.
public protocol PendingDelivery: Sendable {
    /// Has the events handled on the receiver's queue, soon.
    ///
    /// Any thread.
    func start()

    /// Has the events handled on the receiver's queue by this thread, which waits for its turn there; soon, where no other
    /// thread may stand in for the queue's own.
    ///
    /// App code runs inside: for a thread that holds no lock, is on no queue, and that nobody waits for.
    func run()
}
