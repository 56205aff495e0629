import BluetoothBackend
import BluetoothSupport
import Foundation
import Synchronization

@testable import CoreBluetoothClasses

/// Two ends of one channel without a backend: each end receives what the other sends, and grants credits as it reads.
final class ChannelPair: Sendable {
    let near: ChannelTable
    let far: ChannelTable
    private let id = ChannelID(rawValue: 1)
    private let window: Int
    private let onTheWay = Lock((toFar: 0, toNear: 0))
    private let overruns = Lock(0)

    /// - Parameters:
    ///   - window: The bytes that each end may send before the other reads.
    ///   - clock: Waits for the events of the streams.
    init(window: Int, clock: any BackendClock = SystemClock()) {
        self.window = window
        near = ChannelTable(clock: clock)
        far = ChannelTable(clock: clock)
        near.open(id, from: .psm(0x80), credits: window) { [weak self] in
            guard let self else { return }
            pass($0, to: far, \.toFar, \.toNear)
        }
        far.open(id, from: .psm(0x80), credits: window) { [weak self] in
            guard let self else { return }
            pass($0, to: near, \.toNear, \.toFar)
        }
    }

    /// The number of sends beyond the other end's credits.
    var overrunCount: Int { overruns.withLock { $0 } }

    func channel(_ table: ChannelTable) -> CBL2CAPChannel? {
        CBL2CAPChannel(id, in: table, peer: TestObjects.central(), psm: 0x80)
    }

    private func pass(
        _ command: ChannelCommand, to other: ChannelTable,
        _ sent: WritableKeyPath<(toFar: Int, toNear: Int), Int>,
        _ received: WritableKeyPath<(toFar: Int, toNear: Int), Int>
    ) {
        switch command {
        case .send(let data):
            let count = onTheWay.withLock { state in
                state[keyPath: sent] += data.count
                return state[keyPath: sent]
            }
            if count > window { overruns.withLock { $0 += 1 } }
            other[id]?.handle(.received(data))
        case .consumed(let bytes):
            onTheWay.withLock { $0[keyPath: received] -= bytes }
            other[id]?.handle(.credits(bytes))
        case .close:
            other[id]?.handle(.closed)
        }
    }
}

/// Runs `body` on a new thread and then the thread's loop, until nothing is scheduled in it.
func onLoopThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread {
            body()
            while RunLoop.current.run(mode: .default, before: .distantFuture) {}
            continuation.resume()
        }.start()
    }
}

/// Runs `body` on a new thread.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}

/// A stream's delegate that records its events.
final class StreamListener: NSObject, StreamDelegate, Sendable {
    private let seen = Lock<[String]>([])
    private let onEvent: @Sendable (Stream, Stream.Event) -> Void

    init(_ onEvent: @escaping @Sendable (Stream, Stream.Event) -> Void = { _, _ in }) { self.onEvent = onEvent }

    var lines: [String] { seen.withLock { $0 } }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        let line =
            switch eventCode {
            case .openCompleted: "open"
            case .hasBytesAvailable: "bytes"
            case .hasSpaceAvailable: "space"
            case .endEncountered: "end"
            case .errorOccurred: "error"
            default: "\(eventCode)"
            }
        seen.withLock { $0.append(line) }
        onEvent(aStream, eventCode)
    }
}

extension InputStream {
    /// Reads once, at most `count` bytes.
    func bytes(_ count: Int) -> Data? {
        var buffer = [UInt8](repeating: 0, count: count)
        let length = read(&buffer, maxLength: count)
        return length < 0 ? nil : Data(buffer.prefix(length))
    }
}

extension OutputStream {
    /// Writes once.
    @discardableResult
    func write(_ data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            bytes.bindMemory(to: UInt8.self).baseAddress.map { write($0, maxLength: bytes.count) } ?? 0
        }
    }
}
