public import CoreBluetooth

/// L2CAP channels.
extension Peripheral {
    /// Opens a channel.
    ///
    /// - Parameter psm: The channel's number, 1...255; the device's own are 128...255.
    public func openChannel(_ psm: CBL2CAPPSM) async throws -> ByteChannel {
        try await run(.channel, "PSM \(psm)") { [self] in
            let link = try await core.connectedLink()
            guard case .channel(let channel) = try await core.perform(.openChannel(psm), on: link) else {
                throw Failure(.refused(CBError(system: .unknown)))
            }
            // The link ends with the last reference to the peripheral; the channel has one.
            return ByteChannel(channel, peerName: name) { self.core.endOfLink(link) }
        }
    }
}
