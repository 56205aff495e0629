import Foundation
import Synchronization

/// How many values each device of a process has sent, in a file that outlives the process, whatever its end.
package final class SentLedger: Sendable {
    /// The number of devices.
    package let devices: Int
    private let descriptor: Int32
    private let closed = Mutex(false)

    /// Creates the file.
    package init(file: String, devices: Int) throws {
        self.devices = devices
        descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0, ftruncate(descriptor, off_t(devices * 4)) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit { _ = Foundation.close(descriptor) }

    /// Whether devices send no further values.
    package var isClosed: Bool { closed.withLock { $0 } }

    /// Devices send no further values.
    package func close() { closed.withLock { $0 = true } }

    /// Notes the count of a device: one write of four bytes, which the kernel keeps when the process is killed.
    func setCount(_ count: UInt32, of device: Int) {
        var count = count.littleEndian
        let written = pwrite(descriptor, &count, 4, off_t(device * 4))
        precondition(written == 4, "the ledger cannot be written: errno \(errno)")
    }

    /// The counts of a file.
    package static func counts(in file: String) throws -> [Int] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        return stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
