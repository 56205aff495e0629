import Foundation
import Synchronization

/// The numbers of values that the devices of a process have sent, in a file that survives any end of the process.
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

    /// Makes devices send no further values.
    package func close() { closed.withLock { $0 = true } }

    /// Records the count of a device: one write of four bytes, which the kernel keeps when the process is killed.
    func setCount(_ count: UInt32, of device: Int) {
        var count = count.littleEndian
        let written = pwrite(descriptor, &count, 4, off_t(device * 4))
        precondition(written == 4, "the ledger cannot be written: errno \(errno)")
    }

    /// Returns the counts of a file.
    package static func counts(in file: String) throws -> [Int] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        return stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
