#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc

/// Reads the signal strength of links from controllers.
///
/// BlueZ has no D-Bus call for it. Each request has a separate socket, which lives for a few milliseconds.
// Invariant: used on `queue` only.
final class SignalStrengthReader: @unchecked Sendable {
    typealias Completion = @Sendable (Result<Int, BackendError>) -> Void

    /// An unanswered request.
    private struct Question {
        let command: HCIReadRSSI
        let watch: SocketWatch
        let deadline: DelayedCall
        let completion: Completion
    }

    /// The longest event, in bytes: a header of three, and 255.
    private static let longestEvent = 258

    private let queue: DispatchQueue
    private let access: any ControllerAccess
    private let timeout: Duration
    private var questions: [UInt64: Question] = [:]
    private var last: UInt64 = 0
    private var hasWarned = false

    /// - Parameter timeout: The deadline for a controller's answer; the kernel gives it two seconds for a command.
    init(queue: DispatchQueue, access: any ControllerAccess, timeout: Duration = .seconds(3)) {
        self.queue = queue
        self.access = access
        self.timeout = timeout
    }

    /// Reads the strength of the link to a peer, in dBm.
    ///
    /// - Parameter completion: Called on the queue, never inside this call.
    func read(_ peer: L2CAPAddress, on controller: ControllerID, completion: @escaping Completion) {
        do throws(BackendError) {
            try ask(peer, on: controller, completion)
        } catch {
            warn(error)
            queue.async { completion(.failure(error)) }
        }
    }

    private func ask(
        _ peer: L2CAPAddress, on controller: ControllerID, _ completion: @escaping Completion
    ) throws(BackendError) {
        let socket = try access.open(controller)
        last += 1
        let id = last
        let watch = try SocketWatch(adopting: socket, for: HCIReadRSSI.operation, queue: queue) { [weak self] in
            self?.receive(id)
        }
        let command = HCIReadRSSI(handle: try access.handle(of: peer, on: socket))
        let packet = command.command
        guard send(socket, packet, packet.count, CInt(MSG_NOSIGNAL)) == packet.count else {
            throw ControllerSockets.error(errno)
        }
        let deadline = DelayedCall { [weak self] in
            self?.end(id, .failure(BackendError(.connectionTimeout, operation: HCIReadRSSI.operation)))
        }
        questions[id] = Question(command: command, watch: watch, deadline: deadline, completion: completion)
        watch.isReading = true
        queue.asyncAfter(machineDeadline: .now() + timeout.dispatchInterval) { deadline.fire() }
    }

    private func receive(_ id: UInt64) {
        var buffer = [UInt8](repeating: 0, count: Self.longestEvent)
        while let question = questions[id] {
            let count = Glibc.read(question.watch.socket, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return end(id, .failure(ControllerSockets.error(count == 0 ? ENODEV : errno))) }
            if let answer = question.command.answer(Array(buffer[..<count])) { end(id, answer) }
        }
    }

    private func end(_ id: UInt64, _ result: Result<Int, BackendError>) {
        guard let question = questions.removeValue(forKey: id) else { return }
        question.deadline.cancel()
        question.watch.cancel()
        if case .failure(let error) = result { warn(error) }
        question.completion(result)
    }

    /// Logs once that the signal strength cannot be read, with the reason.
    private func warn(_ error: BackendError) {
        guard error.code == .operationNotSupported, !hasWarned else { return }
        hasWarned = true
        BlueZLog.warning("the signal strength of links cannot be read: \(error.message ?? "")")
    }
}
#endif
