import BluetoothSupport
import CoreBluetooth
import Testing

extension ContractScenario {
    /// A peer that shows the number 42, and a central that types it.
    private static let showing = PeerPairing(capability: .displayOnly, passkey: 42)

    /// The reason why a scenario with a wrong number cannot run on BlueZ.
    static let unanswered = "bluetoothd does not report that a number was wrong; it ends the link after 30 seconds"

    static let securingCentral: [ContractScenario] = [
        .central(
            "reading a protected value causes a pairing, after which the read is repeated", proving: "S72",
            needs: .pairing
        ) { c in
            let (peripheral, service) = try await c.connectSecure()
            peripheral.readValue(for: try service.characteristic(.secret))
            try await c.expect(.didUpdateValue(.secret, Data("safe".utf8)))
        },
        .central("writing a protected value causes a pairing", proving: "S72", needs: .pairing) { c in
            let (peripheral, service) = try await c.connectSecure()
            peripheral.writeValue([1], for: try service.characteristic(.secret), type: .withResponse)
            try await c.expect(.didWriteValue(.secret))
            #expect(try await c.perform(.value(.secret)).value == [1])
        },
        .central("a protected subscription causes a pairing", proving: "S117", "S72", needs: .pairing) { c in
            let (peripheral, service) = try await c.connectSecure()
            try await c.subscribe(to: try service.characteristic(.secretNotifying), of: peripheral)
            try await c.perform(.notify(.secretNotifying, [1]))
            try await c.expect(.didUpdateValue(.secretNotifying, [1]))
        },
        .central("a peer that refuses to pair gives the peer's own error", proving: "S72", needs: .pairing) { c in
            let (peripheral, service) = try await c.connectSecure(PeerPairing(accepts: false))
            peripheral.readValue(for: try service.characteristic(.secret))
            try await c.expect(.didUpdateValue(.secret).failing(att: .insufficientAuthentication))
            peripheral.setNotifyValue(true, for: try service.characteristic(.secretNotifying))
            try await c.expect(
                .didUpdateNotificationState(.secretNotifying, false).failing(att: .insufficientAuthentication))
        },
        .central("an agent is asked for consent, and may refuse", proving: "S72", needs: .pairing) { c in
            let link = try await c.readSecret(.noInputNoOutput)
            try await link.agent.reject()
            try await link.agent.expect(.pairingFailed.failing(.operationCancelled))
            try await link.fail()
        },
        .central(
            "a refused pairing is asked about again, and may be accepted", proving: "S72", needs: .pairing,
            emulatorOnly: "a refused pairing ends the link, because bluetoothd answers nothing more on it"
        ) { c in
            let link = try await c.readSecret(.noInputNoOutput)
            try await link.agent.reject()
            try await link.agent.expect(.pairingFailed.failing(.operationCancelled))
            try await link.fail()
            link.read()
            try await link.agent.accept()
            try await link.finish()
        },
        .central("the app enters the number that the peer shows", proving: "S72", needs: .pairing) { c in
            let link = try await c.readSecret(.keyboardOnly, showing)
            try await link.agent.enter(passkey: 42)
            try await link.agent.expect(.paired)
            try await link.finish()
        },
        .central("a wrong number fails the pairing", proving: "S72", needs: .pairing, emulatorOnly: unanswered) { c in
            let link = try await c.readSecret(.keyboardOnly, showing)
            try await link.agent.enter(passkey: 43)
            try await link.agent.skip(.pairingFailed, isFailure: true)
            try await link.fail()
        },
        .central("the app compares a number with the peer", proving: "S72", needs: .pairing) { c in
            let link = try await c.readSecret(.displayYesNo, PeerPairing(capability: .displayYesNo))
            try await link.agent.expect(.asks(.confirm))
            #expect((0...999_999).contains(try link.agent.passkey))
            try link.agent.request.accept()
            try await link.agent.expect(.paired)
            try await link.finish()
        },
        .central("the app shows a number that the peer's user enters", proving: "S72", needs: .pairing) { c in
            let link = try await c.readSecret(.displayOnly, PeerPairing(capability: .keyboardOnly))
            try await link.agent.expect(.asks(.display))
            try await c.perform(.enterPasskey(link.agent.passkey))
            // BlueZ withdraws the number before it reports success.
            try await link.agent.expect(.paired, perhapsAfter: .asksNoMore)
            try await link.finish()
        },
        .central("a bond encrypts the next connection without a question", proving: "S72", needs: .pairing) { c in
            let link = try await c.readSecret(.keyboardOnly, showing)
            try await link.agent.enter(passkey: 42)
            try await link.agent.expect(.paired)
            try await link.finish()
            try await c.cancel(link.peripheral)
            try await c.connect(link.peripheral)
            let again = try await c.discover(.secure, of: link.peripheral)
            link.peripheral.readValue(for: try again.characteristic(.secret))
            try await link.finish()
        },
        .central(
            "lost keys of a peer are reported, and it pairs again after the bond is removed", proving: "S72",
            needs: .pairing,
            emulatorOnly: "BlueZ reports lost keys from version 5.69 on, and such a link crashes Linux 6.1"
        ) { c in
            let link = try await c.readSecret(.noInputNoOutput)
            try await link.agent.accept()
            try await link.finish()
            try await c.perform(.forget)
            try await c.cancel(link.peripheral)
            c.manager.connect(link.peripheral)
            try await c.expect(.didFailToConnect().failing(.peerRemovedPairingInformation))
            link.agent.agent.unpair(link.peripheral) { _ in }
            try await link.agent.expect(.unpaired)
            try await c.connect(link.peripheral)
            link.agent.finish()
        },
        .central("an app may pair before an attribute requires it", proving: "S72", needs: .pairing) { c in
            let agent = c.makeAgent(.noInputNoOutput)
            let (peripheral, service) = try await c.connectSecure()
            // The second call joins the first, which ends on the queue.
            let succeeded = Lock([Bool]())
            agent.queue.sync {
                for _ in 1...2 {
                    agent.agent.pair(peripheral) { error in succeeded.withLock { $0.append(error == nil) } }
                }
            }
            try await agent.expect(.paired)
            #expect(succeeded.withLock { $0 } == [true, true])
            peripheral.readValue(for: try service.characteristic(.secret))
            try await c.expect(.didUpdateValue(.secret, Data("safe".utf8)))
            agent.finish()
        },
        .central("the end of the link cancels its pairing", proving: "S44", needs: .pairing) { c in
            let link = try await c.readSecret(.keyboardOnly, showing)
            try await link.agent.expect(.asks(.enterPasskey))
            try await c.disconnectFromPeer()
            try await link.agent.expect(.asksNoMore, .pairingFailed.failing(.peripheralDisconnected))
            link.agent.finish()
        },
    ]
}
