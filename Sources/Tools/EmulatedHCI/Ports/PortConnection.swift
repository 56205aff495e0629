#if os(Linux)
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Glibc

/// The stream of packets between a host and its controller.
///
/// On one queue.
// Invariant: all variables are used on the queue only.
final class PortConnection: @unchecked Sendable {
    /// The maximum number of bytes that wait for a host that does not read; then the connection ends.
    private static let outputLimit = 4_194_304
    /// The most bytes that are read before other work of the queue.
    private static let chunk = 65_536

    private let descriptor: CInt
    private let isSocket: Bool
    private let isOfMessages: Bool
    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite
    private var isWriting = false
    private var isClosed = false
    private var framing: any PacketFraming
    private var output: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: chunk)
    private var end: ((String) -> Void)?

    init(_ stream: PortStream, on queue: DispatchQueue) {
        (descriptor, framing, isOfMessages) = (stream.descriptor, stream.framing, stream.isOfMessages)
        var status = stat()
        isSocket = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
    }

    /// - Parameters:
    ///   - receive: Receives the packets of the host.
    ///   - end: Receives the reason when the host has left or cannot be understood.
    func begin(receive: @escaping @Sendable (HCIPacket) -> Void, end: @escaping @Sendable (String) -> Void) {
        self.end = end
        reading.setEventHandler { [weak self] in self?.read(receive) }
        writing.setEventHandler { [weak self] in self?.flush() }
        // Both sources are cancelled before the descriptor is closed.
        let group = DispatchGroup()
        for source in [reading, writing] as [any DispatchSourceProtocol] {
            group.enter()
            source.setCancelHandler { group.leave() }
        }
        group.notify(queue: .global()) { [descriptor] in Glibc.close(descriptor) }
        reading.resume()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        end = nil
        reading.cancel()
        writing.cancel()
        if !isWriting { writing.resume() }
    }

    private func fail(_ reason: String) { end.take()?(reason) }

    private func read(_ receive: (HCIPacket) -> Void) {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            return fail(count == 0 ? "it closed the connection" : systemReason)
        }
        let received = framing.receive(buffer[..<count])
        if !received.replies.isEmpty { send(received.replies) }
        for packet in received.packets where !isClosed { receive(packet) }
        if let failure = received.failure { fail(failure) }
    }

    func send(_ packets: [HCIPacket]) {
        if isOfMessages {
            for packet in packets { send(framing.send(packet)) }
        } else {
            send(packets.flatMap { framing.send($0) })
        }
    }

    private func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        output += bytes
        guard output.count <= Self.outputLimit else { return fail("it does not read what its controller sends") }
        if !isWriting { flush() }
    }

    private func flush() {
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes { bytes in
                let start = bytes.baseAddress?.advanced(by: sent)
                // A host that has left is no reason for the signal SIGPIPE.
                return isSocket
                    ? Glibc.send(descriptor, start, bytes.count - sent, CInt(MSG_NOSIGNAL))
                    : Glibc.write(descriptor, start, bytes.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { break }
            // The kernel refuses the packets of a controller that it has switched off.
            if count < 0, errno == ENXIO, isOfMessages {
                sent = output.count
                break
            }
            guard count > 0 else {
                output = []
                return fail(systemReason)
            }
            sent += count
        }
        output.removeFirst(sent)
        wait(for: !output.isEmpty)
    }

    /// Resumes or suspends the calls of ``flush()`` when the descriptor has room.
    private func wait(for isNeeded: Bool) {
        guard isNeeded != isWriting, !isClosed else { return }
        isWriting = isNeeded
        if isNeeded { writing.resume() } else { writing.suspend() }
    }
}
#endif
