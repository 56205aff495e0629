import BluetoothHCI

/// The format of the packets between a host and its controller on the descriptor of a port.
protocol PacketFraming: Sendable {
    /// Adds bytes of the host.
    mutating func receive(_ bytes: ArraySlice<UInt8>) -> ReceivedPackets

    /// Returns the bytes for a packet to the host; none if the transport keeps it until the host asks.
    mutating func send(_ packet: HCIPacket) -> [UInt8]
}

/// The meaning of the bytes that a host has sent.
struct ReceivedPackets: Equatable, Sendable {
    /// The packets that the bytes complete.
    var packets: [HCIPacket] = []
    /// The answers of the transport itself, which precede those of the controller.
    var replies: [UInt8] = []
    /// The reason why the bytes after the last packet cannot be understood; the connection ends.
    var failure: String?
}
