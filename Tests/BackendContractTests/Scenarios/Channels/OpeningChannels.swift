import CoreBluetooth
import Testing

extension ContractScenario {
    static let openingChannels: [ContractScenario] = [
        .central(
            "a channel opens with streams that are not open yet", proving: "S148", "S149", "S150", needs: .channels
        ) { c in
            let peripheral = try await c.connect()
            peripheral.openL2CAPChannel(0x90)
            try await c.expect(.didOpen(.toPeripheral))
            let channel = try #require(c.trace.channels.first).object
            #expect(channel.peer === peripheral)
            #expect(channel.psm == 0x90)
            #expect(channel.inputStream.streamStatus == .notOpen)
            #expect(channel.outputStream.streamStatus == .notOpen)
        },
        .central("a megabyte is sent and echoed without a change", proving: "S152", needs: .channels) { c in
            let end = try await c.openChannel(0x90)
            for part in 1...16 {
                end.send(1 << 16)
                try await c.wait("part \(part) of the megabyte") {
                    end.pump()
                    return end.received == part << 16
                }
            }
        },
        .central("a PSM out of range is an invalid parameter", proving: "S148", needs: .channels) { c in
            let peripheral = try await c.connect()
            peripheral.openL2CAPChannel(0x2349)
            try await c.expect(.didOpen(.none).failing(.invalidParameters))
        },
        .central("the streams end when the peer disconnects", proving: "S153", needs: .channels) { c in
            let end = try await c.openChannel(0x90)
            end.send(100)
            try await c.wait("an echo") {
                end.pump()
                return end.received == 100
            }
            try await c.disconnectFromPeer()
            #expect(end.isAtEnd)
        },
        .central("the streams end when the app disconnects", proving: "S153", "S40", needs: .channels) { c in
            let end = try await c.openChannel(0x90)
            c.manager.cancelPeripheralConnection(try #require(c.peripheral))
            try await c.expect(.didDisconnect())
            #expect(end.isAtEnd)
        },
        .central("a released channel can be opened again", proving: "S151", needs: .channels) { c in
            let end = try await c.openChannel(0x90)
            c.trace.releaseChannels()
            end.release()
            c.peripheral?.openL2CAPChannel(0x90)
            try await c.expect(.didOpen(.toPeripheral))
            let again = ChannelEnd(try #require(c.trace.channels.first))
            again.send(10)
            try await c.wait("an echo") {
                again.pump()
                return again.received == 10
            }
        },
        .central("two channels of one link do not mix their bytes", proving: "S152", needs: .channels) { c in
            let first = try await c.openChannel(0x90)
            c.peripheral?.openL2CAPChannel(0x90)
            try await c.expect(.didOpen(.toPeripheral))
            let second = ChannelEnd(try #require(c.trace.channels.last))
            first.send(5000)
            second.send(300)
            try await c.wait("both echoes") {
                first.pump()
                second.pump()
                return first.received == 5000 && second.received == 300
            }
        },
        .central("a channel for encrypted links causes a pairing", proving: "S146", "S72", needs: .channels, .pairing) {
            c in
            let end = try await c.openChannel(0x92)
            end.send(10)
            try await c.wait("an echo") {
                end.pump()
                return end.received == 10
            }
        },
        .central(
            "a channel for encrypted links is refused if the pairing is", proving: "S148", "S72", needs: .channels,
            .pairing
        ) { c in
            try await c.perform(.secure(PeerPairing(accepts: false)))
            let peripheral = try await c.connect()
            peripheral.openL2CAPChannel(0x92)
            try await c.expectRefusal(
                .didOpen(.none).failing(att: .insufficientAuthentication),
                orOnBlueZ: .didDisconnect().failing(.peripheralDisconnected))
        },
    ]
}

extension ContractContext {
    /// Connects to the contract's peer, and opens a channel.
    fileprivate func openChannel(_ psm: CBL2CAPPSM) async throws -> ChannelEnd {
        let peripheral = try await connect()
        peripheral.openL2CAPChannel(psm)
        try await expect(.didOpen(.toPeripheral))
        return ChannelEnd(try #require(trace.channels.last))
    }
}
