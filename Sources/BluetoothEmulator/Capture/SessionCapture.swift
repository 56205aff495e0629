package import BluetoothBackend
package import BluetoothCapture
import BluetoothSupport
package import BluetoothTracing
import Logging

/// A capture of central managers' requests to a backend and their results: synthetic, because backends report no
/// packets.
package final class SessionCapture: CentralObserver {
    /// The comment of each packet.
    package static let comment = "synthetic: the app's view, not the air"

    /// Returns whether a record of a capture marks the capture as synthetic.
    package static func isComment(of record: CaptureRecord) -> Bool {
        switch record {
        case .packet(let packet): packet.comment?.hasPrefix(comment) ?? false
        case .note(let text, _): text.hasPrefix(comment)
        case .host: false
        }
    }

    private struct State: Sendable {
        var tap = SessionTap()
        /// The packets; nil before the first message, whose time is the present.
        var packets: PacketCapture?
        var hasIntroduction = false
    }

    private let file: CaptureFile
    private let state = Lock(State())

    /// - Throws: `CaptureError` if the file cannot be written.
    package init(_ file: String) throws(CaptureError) {
        self.file = try CaptureFile(file, comment: Self.comment)
    }

    package func observe(_ messages: [ObservedMessage]) {
        let records = state.withLock { state in messages.flatMap { Self.records($0, &state) } }
        if !records.isEmpty { file.write(records) }
    }

    private static func records(_ message: ObservedMessage, _ state: inout State) -> [CaptureRecord] {
        if state.packets == nil { state.packets = PacketCapture(origin: origin(of: message.time)) }
        var records = state.tap.events(message).flatMap { state.packets?.handle($0) ?? [] }
        if case .ended = message.content { records += state.packets?.finish() ?? [] }
        records = records.map(marked)
        let first = records.firstIndex { if case .host = $0 { false } else { true } }
        if !state.hasIntroduction, let first {
            state.hasIntroduction = true
            let text = "\(comment); \"sudo btmon --write FILE\" captures the packets of an adapter"
            records.insert(.note(text, at: records[first].time), at: first)
        }
        return records
    }

    /// Returns the beginning of the backend's time.
    private static func origin(of now: Duration) -> CaptureTime {
        CaptureTime(max(0, Date().timeIntervalSince1970 - now.inSeconds) * 1e9)
    }

    private static func marked(_ record: CaptureRecord) -> CaptureRecord {
        guard case .packet(let packet) = record else { return record }
        let comments = [comment, packet.comment].compactMap(\.self)
        return .packet(
            CapturedPacket(
                host: packet.host, time: packet.time, packet: packet.packet, comment: comments.joined(separator: "\n")))
    }
}

extension CaptureRecord {
    fileprivate var time: CaptureTime {
        switch self {
        case .packet(let packet): packet.time
        case .note(_, let time): time
        case .host: 0
        }
    }
}

/// The capture for `COREBLUETOOTH_CAPTURE` on backends that capture no air.
package final class EnvironmentSessionCapture: CentralObserver {
    private enum State {
        case unopened
        case open(SessionCapture)
        case failed
    }

    private static let shared = EnvironmentCaptures.file.map { EnvironmentSessionCapture($0) }

    private let file: String
    private let state = Lock(State.unopened)

    private init(_ file: String) { self.file = file }

    /// Returns a backend that captures its central managers, or the backend itself if no capture is requested.
    ///
    /// Emulators are not captured here, because they capture their air.
    package static func captured(_ backend: any BluetoothBackend) -> any BluetoothBackend {
        guard let shared else { return backend }
        return ObservingBackend(around: backend, shared)
    }

    package func observe(_ messages: [ObservedMessage]) {
        // An automatic backend is an emulator after it has decided for one.
        let messages = messages.filter { $0.backend != Emulator.backendName }
        guard !messages.isEmpty else { return }
        let capture = state.withLock { state -> SessionCapture? in
            if case .unopened = state { state = open() }
            return if case .open(let capture) = state { capture } else { nil }
        }
        capture?.observe(messages)
    }

    private func open() -> State {
        do throws(CaptureError) {
            return .open(try SessionCapture(file))
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no capture: COREBLUETOOTH_CAPTURE: \(error)")
            return .failed
        }
    }
}
