public import CoreBluetooth

/// L2CAP channels.
extension Peripheral {
    /// Opens a channel.
    ///
    /// - Parameter psm: The channel's number, 1...255; the device's own are 128...255.
    public func openChannel(_ psm: CBL2CAPPSM) async throws -> ByteChannel {
        try await run(.channel, "PSM \(psm)") { [core] in
            let link = try await core.connectedLink()
            guard case .channel(let channel) = try await core.perform(.openChannel(psm), on: link) else {
                throw Failure(.refused(CBError(system: .unknown)))
            }
            return ByteChannel(channel, peerName: core.object.name) { core.endOfLink(link) }
        }
    }
}
