#if Emulator && BlueZ && os(Linux)
import BluetoothSupport
import EmulatedBlueZ
import Foundation
import Synchronization

/// The signals to this process that are forwarded to the program it runs.
///
/// A key such as Ctrl-C reaches every process in the foreground of the terminal, including the program; the kernel
/// sends that signal, so it is not forwarded. A signal that this process ignores from the beginning, as under `nohup`,
/// stays ignored in both.
struct ForwardedSignals {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    private let reading: FileHandle

    /// Collects signals from now on, for `forward(to:)`.
    ///
    /// - Throws: A failure without a free file descriptor.
    init() throws(Failure) {
        let pipe = Pipe()
        reading = pipe.fileHandleForReading
        // Open until the process ends, because a signal may arrive until then.
        let writing = dup(pipe.fileHandleForWriting.fileDescriptor)
        guard writing >= 0 else { throw Failure(.failed, "no pipe for signals: \(String(cString: strerror(errno)))") }
        for descriptor in [writing, reading.fileDescriptor, pipe.fileHandleForWriting.fileDescriptor] {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        signalPipe.store(writing, ordering: .releasing)
        for number in Self.numbers where Self.hasDefaultAction(number) {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { number, information, _ in
                // SI_KERNEL and the like are positive; the codes of signals from processes are not.
                guard let information, information.pointee.si_code <= 0 else { return }
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(signalPipe.load(ordering: .acquiring), &byte, 1)
                errno = error
            }
            action.sa_flags = SA_SIGINFO | Int32(SA_RESTART)
            _ = sigaction(number, &action, nil)
        }
    }

    /// Sends each signal to a program, on a separate thread; earlier signals first.
    func forward(to process: SpawnedProcess) {
        let reading = reading
        Thread.detachNewThread {
            while true {
                let bytes = reading.availableData
                if bytes.isEmpty { return }
                for byte in bytes { process.signal(Int32(byte)) }
            }
        }
    }

    /// Whether a signal has its default action in this process.
    static func hasDefaultAction(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return action.__sigaction_handler.sa_handler == nil
    }
}

/// The descriptor to which the handler writes the number of each signal.
private let signalPipe = Atomic<Int32>(-1)
#endif
