package import BluetoothHCI

/// One entry of a capture file.
package enum CaptureRecord: Hashable, Sendable {
    /// A host whose packets follow.
    case host(CapturedHost)
    case packet(CapturedPacket)
    /// A text: in pcapng files a comment of the next packet, in btsnoop files a line of the log.
    case note(String, at: CaptureTime)
}

/// A host in a capture: an interface of a pcapng file, an adapter of a btsnoop file.
package struct CapturedHost: Hashable, Sendable {
    package let name: String
    package let address: HCIAddress

    package init(name: String, address: HCIAddress) { (self.name, self.address) = (name, address) }
}

/// A packet between a host and its controller.
package struct CapturedPacket: Hashable, Sendable {
    /// The number of the host, in the order of their records.
    package let host: Int
    package let time: CaptureTime
    package let packet: HCIPacket
    /// A remark, for instance that the packet was not on the air.
    package let comment: String?

    package init(host: Int, time: CaptureTime, packet: HCIPacket, comment: String? = nil) {
        (self.host, self.time, self.packet, self.comment) = (host, time, packet, comment)
    }
}

/// Nanoseconds since 1970-01-01T00:00:00Z.
package typealias CaptureTime = UInt64

/// A format of capture files.
package enum CaptureFormat: String, CaseIterable, Hashable, Sendable {
    /// The format of Wireshark and tshark.
    case pcapng
    /// The format of btmon and other programs that read BlueZ's files.
    case btsnoop

    /// btsnoop if the name ends in `.btsnoop`, `.snoop`, `.log` or `.cfa`; pcapng for any other name.
    package init(fileName: String) {
        let name = fileName.lowercased()
        self = [".btsnoop", ".snoop", ".log", ".cfa"].contains { name.hasSuffix($0) } ? .btsnoop : .pcapng
    }

    /// - Parameter comment: Describes the whole file, if the format has a place for it.
    package func makeEncoder(comment: String) -> any CaptureEncoder {
        switch self {
        case .pcapng: PcapngEncoder(comment: comment)
        case .btsnoop: BTSnoopEncoder()
        }
    }
}

/// Encodes the bytes of a capture file, one record at a time.
package protocol CaptureEncoder: Sendable {
    /// The bytes at the beginning of the file.
    var header: [UInt8] { get }
    mutating func encode(_ record: CaptureRecord) -> [UInt8]
    /// Returns the bytes at the end of the file.
    mutating func end(at time: CaptureTime) -> [UInt8]
}
