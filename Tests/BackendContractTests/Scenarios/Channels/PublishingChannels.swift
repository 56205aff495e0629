import CoreBluetooth
import Testing

extension ContractScenario {
    static let publishingChannels: [ContractScenario] = [
        .peripheral("a central opens the PSM that the system chose", proving: "S146", "S149", needs: .channels) { p in
            let psm = try await p.publishChannel()
            _ = try await p.acceptChannel()
            let channel = try #require(p.trace.channels.first).object
            #expect(channel.psm == psm)
            #expect(channel.inputStream.streamStatus == .open)
        },
        .peripheral("a megabyte is sent each way without a change", proving: "S152", needs: .channels) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            for part in 1...16 {
                try await p.one.perform(.send(count: 1 << 16))
                end.send(1 << 16)
                try await p.wait("part \(part) of the megabyte") {
                    end.pump()
                    return end.received == part << 16 && end.sent == part << 16
                }
                try await p.one.perform(.receive(count: part << 16))
            }
        },
        .peripheral("a characteristic exposes the PSM of a channel", proving: "S147", needs: .channels) { p in
            let psm = try await p.publishChannel()
            let number = CBMutableCharacteristic(
                type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString), properties: .read,
                value: withUnsafeBytes(of: psm.littleEndian) { Data($0) }, permissions: .readable)
            try await p.add(LocalServices.service(.other, [number]))
            try await p.one.expect(.servicesChanged(added: [.other]))
            try await p.one.perform(.discover)
            try await p.one.perform(.read(.l2capPSM))
            try await p.one.expect(
                .services([.served, .other]),
                .read(.l2capPSM, [UInt8(psm), 0]))
            _ = try await p.acceptChannel()
        },
        .peripheral("each publication has its own PSM", proving: "S146", needs: .channels) { p in
            let first = try await p.publishChannel()
            p.manager.publishL2CAPChannel(withEncryption: false)
            try await p.expect(.didPublish())
            #expect(try #require(p.trace.psms.last) != first)
        },
        .peripheral("unpublishing closes the channels and refuses new ones", proving: "S154", needs: .channels) { p in
            let psm = try await p.publishChannel()
            let end = try await p.acceptChannel()
            p.manager.unpublishL2CAPChannel(psm)
            try await p.expect(.didUnpublish())
            try await p.one.expect(.channelClosed)
            #expect(end.isAtEnd)
            try await p.one.perform(.openChannel(psm: psm))
            try await p.one.expect(.channelRefused.failing(.text("operationNotSupported")))
        },
        .peripheral("unpublishing an unknown PSM is an error", proving: "S154", needs: .channels) { p in
            try await p.powerOn()
            p.manager.unpublishL2CAPChannel(0x99)
            try await p.expect(.didUnpublish().failing(.invalidParameters))
        },
        .peripheral("the streams end when the central disconnects", proving: "S153", needs: .channels) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            try await p.one.perform(.disconnect)
            try await p.one.expect(.channelClosed, .disconnected("local"))
            try await p.wait("the end") { end.isAtEnd }
        },
        .peripheral("the streams end when the central closes the channel", proving: "S153", needs: .channels) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            try await p.one.perform(.send(count: 10))
            try await p.wait("ten bytes") {
                end.pump()
                return end.received == 10
            }
            try await p.one.perform(.closeChannel)
            try await p.wait("the end") { end.isAtEnd }
        },
        .peripheral("releasing a channel closes it", proving: "S151", needs: .channels) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            p.trace.releaseChannels()
            end.release()
            try await p.one.expect(.channelClosed)
        },
        .peripheral(
            "a central pairs before it opens a channel for encrypted links", proving: "S146", needs: .channels, .pairing
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            let psm = try await p.publishChannel(withEncryption: true)
            try await p.one.perform(.openChannel(psm: psm))
            try await agent.expect(.asks(.consent))
            try agent.request.reject()
            try await agent.expect(.pairingFailed.failing(.operationCancelled))
            try await p.one.expect(.channelRefused.failing(response: .insufficientAuthentication))
            try await p.one.perform(.openChannel(psm: psm))
            try await agent.expect(.asks(.consent))
            try agent.request.accept()
            try await agent.expect(.paired)
            try await p.expect(.didOpen(.toCentral))
            try await p.one.expect(.channelOpened)
            agent.finish()
        },
        .peripheral("a power-off closes channels and unpublishes their PSMs", proving: "S104", needs: .channels) { p in
            let psm = try await p.publishChannel()
            let end = try await p.acceptChannel()
            try await p.switchOff()
            #expect(end.isAtEnd)
            try await p.one.expect(.channelClosed, .disconnected("remote"))
            try await p.switchOn()
            try await p.one.perform(.connect(service: .served))
            try await p.one.perform(.openChannel(psm: psm))
            try await p.one.expect(.connected, .channelRefused.failing(.text("operationNotSupported")))
        },
    ]
}

extension PeripheralContext {
    /// Serves, and listens for channels.
    fileprivate func publishChannel(withEncryption isRequired: Bool = false) async throws -> CBL2CAPPSM {
        _ = try await serve()
        manager.publishL2CAPChannel(withEncryption: isRequired)
        try await expect(.didPublish())
        return try #require(trace.psms.last)
    }

    /// Lets the first central open the channel that was published last.
    fileprivate func acceptChannel() async throws -> ChannelEnd {
        try await one.perform(.openChannel(psm: try #require(trace.psms.last)))
        try await expect(.didOpen(.toCentral))
        try await one.expect(.channelOpened)
        return ChannelEnd(try #require(trace.channels.last))
    }
}
