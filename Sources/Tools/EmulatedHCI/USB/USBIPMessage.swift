import BluetoothHCI

/// A request of a kernel that has attached a USB device over USB/IP.
///
/// Source: Linux, `Documentation/usb/usbip_protocol.rst`.
enum USBIPRequest: Hashable, Sendable {
    /// A transfer to or from the device (`USBIP_CMD_SUBMIT`).
    case submit(USBTransfer)
    /// The kernel no longer wants an earlier transfer (`USBIP_CMD_UNLINK`).
    case unlink(UInt32, transfer: UInt32)
}

/// A transfer as the kernel's USB driver submits it.
struct USBTransfer: Hashable, Sendable {
    /// The number of the request, by which its reply names it.
    var number: UInt32
    /// The number of the endpoint, without the direction.
    var endpoint: UInt8
    var isIn: Bool
    /// The size of the driver's buffer.
    var length: Int
    /// The eight bytes that begin a control transfer.
    var setup: [UInt8] = [UInt8](repeating: 0, count: 8)
    /// The data for the device; none if the transfer is from the device.
    var data: [UInt8] = []
}

/// The outcome of a transfer or of an unlink: zero, or a negative error number of Linux.
///
/// Source: Linux, `Documentation/driver-api/usb/error-codes.rst`.
enum USBStatus: Int32, Sendable {
    case success = 0
    /// The endpoint stalled: `-EPIPE`.
    case stalled = -32
    /// The device sent more than the buffer takes: `-EOVERFLOW`.
    case overflow = -75
    /// The transfer was unlinked before it had ended: `-ECONNRESET`.
    case unlinked = -104
}

/// The replies of a device.
enum USBIPReply {
    /// Returns the bytes that end a transfer (`USBIP_RET_SUBMIT`).
    ///
    /// - Parameters:
    ///   - transferred: The number of transferred bytes.
    ///   - data: The bytes from the device; none if the transfer was to it.
    static func submitted(
        _ number: UInt32, _ status: USBStatus, transferred: Int, data: ArraySlice<UInt8> = []
    ) -> [UInt8] {
        message(3, number, status, [Int32(transferred), 0, 0, 0]) + data
    }

    /// Returns the bytes that answer an unlink (`USBIP_RET_UNLINK`).
    static func unlinked(_ number: UInt32, _ status: USBStatus) -> [UInt8] { message(4, number, status) }

    /// Device, direction and endpoint are zero in replies.
    private static func message(
        _ kind: UInt32, _ number: UInt32, _ status: USBStatus, _ fields: [Int32] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(USBIPDecoder.headerLength)
        for field in [kind, number, 0, 0, 0] { bytes.append(bigEndian: field) }
        for field in [status.rawValue] + fields { bytes.append(bigEndian: field) }
        return bytes + [UInt8](repeating: 0, count: USBIPDecoder.headerLength - bytes.count)
    }
}

/// Divides the bytes of a kernel into requests.
struct USBIPDecoder: Sendable {
    /// The length of each message without the data of its transfer.
    static let headerLength = 48
    /// More than any transfer of HCI, which has 65,539 bytes at most.
    static let maximumLength = 1 << 20

    /// The bytes are no request, so that the boundaries are lost; the text continues "it sent…".
    struct Malformed: Error, Hashable {
        let reason: String
    }

    private var buffer: [UInt8] = []
    private var start = 0

    /// Adds bytes, whose requests ``next()`` returns.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer += bytes
    }

    /// Returns the next complete request; nil if there is none.
    mutating func next() throws(Malformed) -> USBIPRequest? {
        var cursor = ByteCursor(buffer[start...])
        guard cursor.count >= Self.headerLength, let kind = cursor.bigEndian(UInt32.self),
            let number = cursor.bigEndian(UInt32.self), cursor.next(4) != nil,
            let direction = cursor.bigEndian(UInt32.self), let endpoint = cursor.bigEndian(UInt32.self),
            // The number of the unlinked transfer, or the flags of a transfer.
            let word = cursor.bigEndian(UInt32.self), let length = cursor.bigEndian(Int32.self),
            cursor.next(4) != nil, let packets = cursor.bigEndian(Int32.self), cursor.next(4) != nil,
            let setup = cursor.next(8)
        else { return nil }
        switch kind {
        case 1:
            guard direction <= 1, endpoint <= 15 else {
                throw Malformed(reason: "a transfer for endpoint \(endpoint) in direction \(direction)")
            }
            guard (0...Self.maximumLength).contains(Int(length)) else {
                throw Malformed(reason: "a transfer of \(length) bytes")
            }
            guard packets <= 0 else { throw Malformed(reason: "an isochronous transfer") }
            guard let data = cursor.next(direction == 0 ? Int(length) : 0) else { return nil }
            start = cursor.offset
            return .submit(
                USBTransfer(
                    number: number, endpoint: UInt8(endpoint), isIn: direction == 1, length: Int(length),
                    setup: Array(setup), data: Array(data)))
        case 2:
            start = cursor.offset
            return .unlink(number, transfer: word)
        default: throw Malformed(reason: "a request of type \(kind), which USB/IP does not have")
        }
    }
}
