import CoreBluetooth
import Testing

extension ContractScenario {
    static let publishingChannels: [ContractScenario] = [
        ContractScenario(
            peripheral: "S146 S149: a central opens the number that the system chose", needs: [.channels]
        ) { p in
            let psm = try await p.publishChannel()
            _ = try await p.acceptChannel()
            let channel = try #require(p.trace.channels.first).object
            #expect(channel.psm == psm)
            #expect(channel.inputStream.streamStatus == .open)
        },
        ContractScenario(peripheral: "S152: a megabyte goes each way, whole", needs: [.channels]) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            for quarter in 1...4 {
                try await p.one.perform(.send(count: 1 << 18))
                end.send(1 << 18)
                try await p.wait("quarter \(quarter) of the megabyte") {
                    end.pump()
                    return end.received == quarter << 18 && end.sent == quarter << 18
                }
                try await p.one.perform(.receive(count: quarter << 18))
            }
        },
        ContractScenario(peripheral: "S147: a characteristic tells the number of a channel", needs: [.channels]) { p in
            let psm = try await p.publishChannel()
            let number = CBMutableCharacteristic(
                type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString), properties: .read,
                value: withUnsafeBytes(of: psm.littleEndian) { Data($0) }, permissions: .readable)
            try await p.add(LocalServices.service("C0DE2000", [number]))
            try await p.one.expect(#"services changed -[] +["C0DE2000"]"#)
            try await p.one.perform(.discover)
            try await p.one.perform(.read(CBUUIDL2CAPPSMCharacteristicString))
            try await p.one.expect(
                "services C0DE1000 C0DE2000",
                "read \(CBUUIDL2CAPPSMCharacteristicString) \(Data([UInt8(psm), 0]).hex)")
            _ = try await p.acceptChannel()
        },
        ContractScenario(peripheral: "S146: each publication has a number of its own", needs: [.channels]) { p in
            let first = try await p.publishChannel()
            p.manager.publishL2CAPChannel(withEncryption: false)
            try await p.expect("didPublish dynamic PSM")
            #expect(try #require(p.trace.psms.last) != first)
        },
        ContractScenario(
            peripheral: "S154: what is published no more closes its channels and refuses new ones", needs: [.channels]
        ) { p in
            let psm = try await p.publishChannel()
            let end = try await p.acceptChannel()
            p.manager.unpublishL2CAPChannel(psm)
            try await p.expect("didUnpublish dynamic PSM")
            try await p.one.expect("channel closed")
            #expect(end.isAtEnd)
            try await p.one.perform(.openChannel(psm: psm))
            try await p.one.expect("channel ! operationNotSupported")
        },
        ContractScenario(peripheral: "S154: unpublishing what is not published is an error", needs: [.channels]) { p in
            try await p.powerOn()
            p.manager.unpublishL2CAPChannel(0x99)
            try await p.expect("didUnpublish dynamic PSM ! CBError 1")
        },
        ContractScenario(peripheral: "S153: a central that leaves ends the streams", needs: [.channels]) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            try await p.one.perform(.disconnect)
            try await p.one.expect("channel closed", "disconnected local")
            try await p.wait("the end") { end.isAtEnd }
        },
        ContractScenario(peripheral: "S153: a central that closes its channel ends the streams", needs: [.channels]) {
            p in
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
        ContractScenario(peripheral: "S151: letting go of a channel closes it", needs: [.channels]) { p in
            _ = try await p.publishChannel()
            let end = try await p.acceptChannel()
            p.trace.releaseChannels()
            end.release()
            try await p.one.expect("channel closed")
        },
        ContractScenario(
            peripheral: "S146: a central pairs before it opens a channel for encrypted links",
            needs: [.channels, .pairing]
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            let psm = try await p.publishChannel(withEncryption: true)
            try await p.one.perform(.openChannel(psm: psm))
            try await agent.expect("asks consent")
            try agent.request.reject()
            try await agent.expect("pairing failed ! CBError 5")
            try await p.one.expect("channel ! 5")
            try await p.one.perform(.openChannel(psm: psm))
            try await agent.expect("asks consent")
            try agent.request.accept()
            try await agent.expect("paired")
            try await p.expect("didOpen channel of a central")
            try await p.one.expect("channel open")
            agent.finish()
        },
        ContractScenario(peripheral: "S104: channels and their numbers go with the power", needs: [.channels]) { p in
            let psm = try await p.publishChannel()
            let end = try await p.acceptChannel()
            try await p.perform(.adapter(isPowered: false))
            try await p.wait("poweredOff") { [trace = p.trace] in trace.states.last == .poweredOff }
            #expect(end.isAtEnd)
            try await p.one.expect("channel closed", "disconnected remote")
            try await p.perform(.adapter(isPowered: true))
            try await p.powerOn()
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.perform(.openChannel(psm: psm))
            try await p.one.expect("connected", "channel ! operationNotSupported")
        },
    ]
}

extension PeripheralContext {
    /// Serves, and listens for channels.
    fileprivate func publishChannel(withEncryption isRequired: Bool = false) async throws -> CBL2CAPPSM {
        _ = try await serve()
        manager.publishL2CAPChannel(withEncryption: isRequired)
        try await expect("didPublish dynamic PSM")
        return try #require(trace.psms.last)
    }

    /// Lets the first central open what was published last.
    fileprivate func acceptChannel() async throws -> ChannelEnd {
        try await one.perform(.openChannel(psm: try #require(trace.psms.last)))
        try await expect("didOpen channel of a central")
        try await one.expect("channel open")
        return ChannelEnd(try #require(trace.channels.last))
    }
}
