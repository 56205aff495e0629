#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import Dispatch
import FoundationEssentials
import Glibc
import ScriptedBlueZ
import Synchronization

@testable import BlueZ

/// Socket pairs in place of the kernel's Bluetooth: the test holds the other end.
final class SocketPairs: ChannelNetwork {
    private struct Contents {
        var peers: [CInt] = []
        var waiting: [(socket: CInt, peer: L2CAPAddress)] = []
        var listeners: [CInt] = []
        var error: BackendError?
        var acceptError: BackendError?
        var accepts = 0
        var isSilent = false
    }

    private let contents = Lock(Contents())
    private let limit: Int
    let isAvailable: Bool
    /// The addresses of connects and listeners.
    let addresses = Recorder<L2CAPAddress>()
    let requirements = Recorder<Bool>()

    init(sendLimit: Int = 245, isAvailable: Bool = true) {
        limit = sendLimit
        self.isAvailable = isAvailable
    }

    deinit {
        let contents = contents.withLock { $0 }
        for socket in contents.peers + contents.listeners { close(socket) }
    }

    /// The other end of the latest channel.
    var peer: CInt { contents.withLock { $0.peers.last ?? -1 } }

    /// Makes later connects end with an error.
    func fail(with error: BackendError?) { contents.withLock { $0.error = error } }

    /// Makes later accepts fail.
    func failAccepting(with error: BackendError?) { contents.withLock { $0.acceptError = error } }

    /// The number of accepts.
    var accepts: Int { contents.withLock { $0.accepts } }

    /// Makes later connects never end.
    func neverConnect() { contents.withLock { $0.isSilent = true } }

    /// Closes the other end of the latest channel.
    func hangUp() { contents.withLock { _ = close($0.peers.removeLast()) } }

    /// Opens a channel as a peer.
    func open(from peer: L2CAPAddress) throws {
        let socket = try pair()
        let listener = contents.withLock { contents -> CInt in
            contents.waiting.append((socket, peer))
            return contents.listeners.last ?? -1
        }
        // One byte makes the listener readable.
        _ = Glibc.write(listener, [0], 1)
    }

    private func pair() throws(BackendError) -> CInt {
        var sockets: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &sockets) == 0 else {
            throw BackendError(.outOfSpace, operation: "socketpair")
        }
        contents.withLock { $0.peers.append(sockets[1]) }
        return sockets[0]
    }

    // MARK: ChannelNetwork

    func connect(from local: L2CAPAddress, to peer: L2CAPAddress) throws(BackendError) -> CInt {
        addresses.append(local)
        addresses.append(peer)
        let socket = try pair()
        if contents.withLock({ $0.isSilent }) { while PeerEnd.send([0], to: socket) {} }
        return socket
    }

    func failure(of socket: CInt) -> BackendError? { contents.withLock { $0.error } }

    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16) {
        addresses.append(local)
        requirements.append(isEncryptionRequired)
        var pipe: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pipe) == 0 else {
            throw BackendError(.outOfSpace, operation: "socketpair")
        }
        return contents.withLock { contents in
            contents.listeners.append(pipe[1])
            return (pipe[0], 0x80 + UInt16(contents.listeners.count - 1))
        }
    }

    func accept(_ listener: CInt) throws(BackendError) -> (socket: CInt, peer: L2CAPAddress)? {
        var byte: UInt8 = 0
        let result = contents.withLock { contents -> Result<(socket: CInt, peer: L2CAPAddress)?, BackendError> in
            contents.accepts += 1
            if let error = contents.acceptError { return .failure(error) }
            guard !contents.waiting.isEmpty, recv(listener, &byte, 1, CInt(MSG_DONTWAIT)) == 1 else {
                return .success(nil)
            }
            return .success(contents.waiting.removeFirst())
        }
        return try result.get()
    }

    func sendLimit(of socket: CInt) -> Int { limit }
    func backlog(of socket: CInt) -> CInt { 0 }
}

/// The other end of a channel, used without waiting.
enum PeerEnd {
    /// Sends one packet.
    static func send(_ bytes: [UInt8], to socket: CInt) -> Bool {
        Glibc.send(socket, bytes, bytes.count, CInt(MSG_DONTWAIT)) == bytes.count
    }

    /// Waits until `count` bytes have arrived, or the end.
    static func receive(_ socket: CInt, atLeast count: Int) -> Int {
        var total = 0
        var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while total < count, poll(&state, 1, 10_000) == 1 {
            guard let packet = receive(socket), !packet.isEmpty else { break }
            total += packet.count
        }
        return total
    }

    /// Returns the next packet; nil if none has arrived, empty also at the end.
    static func receive(_ socket: CInt) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return count < 0 ? nil : Array(buffer[..<count])
    }
}

/// A pool of channels on a separate queue, and its reports.
final class PoolFixture: Sendable {
    enum Report: Equatable, Sendable {
        case opened(ChannelPool.Opening)
        case accepted(ChannelPool.Opening, L2CAPAddress)
        case failed(BackendError)
        case event(ChannelID, ChannelEvent)
    }

    let queue = DispatchQueue(label: "ChannelPoolTests")
    let network: SocketPairs
    let reports = Recorder<Report>()
    let pool: ChannelPool

    init(_ network: SocketPairs = SocketPairs(), timings: ChannelPool.Timings = ChannelPool.Timings()) {
        self.network = network
        let reports = reports
        pool = ChannelPool(queue: queue, network: network, timings: timings) { reports.append(.event($0, $1)) }
    }

    /// Opens a channel, and returns it when it is up.
    func open() async throws -> ChannelID {
        connect()
        let event = try await reports.first { if case .opened = $0 { true } else { false } }
        guard case .opened(let opening) = event else { throw CancellationError() }
        return opening.channel
    }

    func connect() {
        queue.async { [self] in
            guard let local = L2CAPAddress("00:11:22:33:44:55", isRandom: false),
                let peer = L2CAPAddress("F0:F1:F2:F3:F4:F5", isRandom: true, psm: 0x90)
            else { return }
            pool.connect(from: local, to: peer) { [reports] result in
                switch result {
                case .success(let opening): reports.append(.opened(opening))
                case .failure(let error): reports.append(.failed(error))
                }
            }
        }
    }

    /// Listens for channels, and returns the PSM.
    func listen() async throws -> UInt16 {
        guard let local = L2CAPAddress("00:11:22:33:44:55", isRandom: false) else { throw CancellationError() }
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<UInt16, any Error>) in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try pool.listen(at: local, isEncryptionRequired: true) { [reports] in
                            reports.append(.accepted($0, $1))
                        }
                    })
            }
        }
    }

    func perform(_ action: ChannelPool.Action, on channel: ChannelID) {
        queue.async { [self] in pool.perform(action, on: channel) }
    }

    /// All bytes received so far.
    var received: [UInt8] {
        reports.elements.reduce(into: []) { bytes, report in
            if case .event(_, .received(let data)) = report { bytes += data }
        }
    }

    /// Waits until this many bytes have arrived.
    func wait(received count: Int) async throws {
        try await reports.wait { reports in
            reports.reduce(0) { sum, report in
                if case .event(_, .received(let data)) = report { sum + data.count } else { sum }
            } >= count
        }
    }

    func wait(credits count: Int) async throws {
        try await reports.wait { reports in
            reports.reduce(0) { sum, report in
                if case .event(_, .credits(let count)) = report { sum + count } else { sum }
            } >= count
        }
    }

    /// Waits until the queue has run all earlier work.
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
#endif
