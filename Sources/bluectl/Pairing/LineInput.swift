import Foundation

/// Lines of standard input, read on a thread of their own once somebody wants one.
@MainActor
final class LineInput {
    private var lines: [String] = []
    private var isReading = false
    private var isAtEnd = false
    private var waiting: CheckedContinuation<String?, Never>?

    /// The next line; nil at the end of the input, or where `cancel()` comes first.
    ///
    /// One caller at a time.
    func next() async -> String? {
        if !lines.isEmpty { return lines.removeFirst() }
        if isAtEnd { return nil }
        startReading()
        return await withCheckedContinuation { waiting = $0 }
    }

    /// Nobody wants the line any more.
    func cancel() { resume(nil) }

    private func take(_ line: String) {
        if waiting == nil { lines.append(line) } else { resume(line) }
    }

    private func end() {
        isAtEnd = true
        resume(nil)
    }

    private func resume(_ line: String?) {
        waiting?.resume(returning: line)
        waiting = nil
    }

    /// Not through the C library's streams: a thread that waits in one keeps the process from ending.
    private func startReading() {
        guard !isReading else { return }
        isReading = true
        Thread.detachNewThread {
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1024)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeSubrange(...end)
                    Task { @MainActor [weak self] in self?.take(line) }
                }
            }
            let last = String(decoding: rest, as: UTF8.self)
            Task { @MainActor [weak self] in
                if !last.isEmpty { self?.take(last) }
                self?.end()
            }
        }
    }
}
