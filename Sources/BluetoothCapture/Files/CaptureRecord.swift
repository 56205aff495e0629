/// One entry of a capture file.
package enum CaptureRecord: Hashable, Sendable {
    /// A host whose packets follow.
    case host(CapturedHost)
    case packet(CapturedPacket)
    /// Text beside the packets: of pcapng files a comment of the next packet, of btsnoop files a line of the log.
    case note(String, at: CaptureTime)
}

/// A host in a capture: an interface of a pcapng file, an adapter of a btsnoop file.
package struct CapturedHost: Hashable, Sendable {
    package let name: String
    package let address: CapturedAddress

    package init(name: String, address: CapturedAddress) { (self.name, self.address) = (name, address) }
}

/// A packet between a host and its controller.
package struct CapturedPacket: Hashable, Sendable {
    /// The number of the host, in the order of their records.
    package let host: Int
    package let time: CaptureTime
    package let packet: HCIPacket
    /// Such as that it was not on the air.
    package let comment: String?

    package init(host: Int, time: CaptureTime, packet: HCIPacket, comment: String? = nil) {
        (self.host, self.time, self.packet, self.comment) = (host, time, packet, comment)
    }
}

/// Nanoseconds since 1970-01-01T00:00:00Z.
package typealias CaptureTime = UInt64

/// A kind of capture files.
package enum CaptureFormat: String, CaseIterable, Hashable, Sendable {
    /// For Wireshark and tshark.
    case pcapng
    /// For btmon and what else reads the files of BlueZ.
    case btsnoop

    /// btsnoop where the name ends so or with `.snoop`, `.log` or `.cfa`; pcapng for any other.
    package init(fileName: String) {
        let name = fileName.lowercased()
        self = [".btsnoop", ".snoop", ".log", ".cfa"].contains { name.hasSuffix($0) } ? .btsnoop : .pcapng
    }

    /// - Parameter comment: Describes the whole file, where the format has a place for it.
    package func makeEncoder(comment: String) -> any CaptureEncoder {
        switch self {
        case .pcapng: PcapngEncoder(comment: comment)
        case .btsnoop: BTSnoopEncoder()
        }
    }
}

/// The bytes of a capture file, one record after the other.
package protocol CaptureEncoder: Sendable {
    /// The beginning of the file.
    var header: [UInt8] { get }
    mutating func encode(_ record: CaptureRecord) -> [UInt8]
    /// The end of the file.
    mutating func end(at time: CaptureTime) -> [UInt8]
}
