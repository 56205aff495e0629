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
    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite
    private var isWriting = false
    private var isClosed = false
    private var decoder = H4Decoder()
    private var output: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: chunk)
    private var end: ((String) -> Void)?

    init(_ descriptor: CInt, on queue: DispatchQueue) {
        self.descriptor = descriptor
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

    private func fail(_ reason: String) {
        let end = self.end
        self.end = nil
        end?(reason)
    }

    private func read(_ receive: (HCIPacket) -> Void) {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            return fail(count == 0 ? "it closed the connection" : String(cString: strerror(errno)))
        }
        do throws(H4Decoder.UnknownType) {
            for packet in try decoder.add(buffer[..<count]) where !isClosed { receive(packet) }
        } catch {
            fail("it sent a packet of type \(error.type), which is none of H4")
        }
    }

    func send(_ packets: [HCIPacket]) {
        guard !isClosed else { return }
        for packet in packets {
            output.append(packet.kind.rawValue)
            output += packet.body
        }
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
            guard count > 0 else {
                output = []
                return fail(String(cString: strerror(errno)))
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
