import CoreBluetooth
import Testing

extension ContractScenario {
    /// A peer that shows a number, and a central that types it.
    private static let showing = PeerPairing(capability: .displayOnly, passkey: 42)

    /// Why a number that is typed wrong cannot be told in time.
    static let unanswered = "bluetoothd does not report that a number was wrong; it ends the link after 30 seconds"

    static let securingCentral = [
        secured("S72: a protected value is read: the two pair by themselves, and the read is repeated") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await c.expect("didUpdateValue C0DE0601 73616665")
        },
        secured("S72: a protected value is written: the two pair by themselves") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.writeValue(Data([1]), for: try service.characteristic("C0DE0601"), type: .withResponse)
            try await c.expect("didWriteValue C0DE0601")
            #expect(try await c.perform(.value("C0DE0601")).value == Data([1]))
        },
        secured("S117 S72: a protected subscription makes the two pair") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0602"))
            try await c.expect("didUpdateNotificationState C0DE0602 true")
            try await c.perform(.notify("C0DE0602", Data([1])))
            try await c.expect("didUpdateValue C0DE0602 01")
        },
        secured("S72: a peer that refuses to pair gives the peer's own error", PeerPairing(accepts: false)) { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await c.expect("didUpdateValue C0DE0601 nil ! CBATTError 5")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0602"))
            try await c.expect("didUpdateNotificationState C0DE0602 false ! CBATTError 5")
        },
        secured("S72: an agent is asked for consent, and may refuse it") { c in
            let agent = c.makeAgent(.noInputNoOutput)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks consent")
            try agent.request.reject()
            try await agent.expect("pairing failed ! CBError 5")
            try await c.expect("didUpdateValue C0DE0601 nil ! CBATTError 5")
            agent.finish()
        },
        secured(
            "S72: a refused pairing is asked about again, and may be accepted",
            emulatorOnly: "a refused pairing ends the link, because bluetoothd answers nothing more on it"
        ) { c in
            let agent = c.makeAgent(.noInputNoOutput)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks consent")
            try agent.request.reject()
            try await agent.expect("pairing failed ! CBError 5")
            try await c.expect("didUpdateValue C0DE0601 nil ! CBATTError 5")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks consent")
            try agent.request.accept()
            try await agent.expect("paired")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured("S72: the number that the peer shows is typed", showing) { c in
            let agent = c.makeAgent(.keyboardOnly)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks enterPasskey")
            try agent.request.enter(passkey: 42)
            try await agent.expect("paired")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured("S72: a wrong number fails the pairing", showing, emulatorOnly: unanswered) { c in
            let agent = c.makeAgent(.keyboardOnly)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks enterPasskey")
            try agent.request.enter(passkey: 43)
            try await agent.skip("pairing failed", isFailure: true)
            try await c.expect("didUpdateValue C0DE0601 nil ! CBATTError 5")
            agent.finish()
        },
        secured("S72: two displays are compared", PeerPairing(capability: .displayYesNo)) { c in
            let agent = c.makeAgent(.displayYesNo)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks confirm")
            #expect((0...999_999).contains(try agent.passkey))
            try agent.request.accept()
            try await agent.expect("paired")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured("S72: the number is shown for the peer's user to type", PeerPairing(capability: .keyboardOnly)) { c in
            let agent = c.makeAgent(.displayOnly)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks display")
            // BlueZ takes the number back before it says that it was right.
            try await agent.expect("paired", perhapsAfter: "asks no more")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured("S72: a bond serves the next connection, without a question", showing) { c in
            let agent = c.makeAgent(.keyboardOnly)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks enterPasskey")
            try agent.request.enter(passkey: 42)
            try await agent.expect("paired")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            let again = try await c.discover("C0DE0006", of: peripheral)
            peripheral.readValue(for: try again.characteristic("C0DE0601"))
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured(
            "S72: lost keys of a peer are reported, and it pairs again after the bond is removed",
            emulatorOnly: "BlueZ reports lost keys from version 5.69 on, and such a link crashes Linux 6.1"
        ) { c in
            let agent = c.makeAgent(.noInputNoOutput)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks consent")
            try agent.request.accept()
            try await agent.expect("paired")
            try await c.expect("didUpdateValue C0DE0601 73616665")
            try await c.perform(.forget)
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
            c.manager.connect(peripheral)
            try await c.expect("didFailToConnect disconnected ! CBError 14")
            agent.agent.unpair(peripheral) { _ in }
            try await agent.expect("unpaired")
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            agent.finish()
        },
        secured("S72: an app may pair before anything asks for it") { c in
            let agent = c.makeAgent(.noInputNoOutput)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            agent.agent.pair(peripheral) { _ in }
            try await agent.expect("paired")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await c.expect("didUpdateValue C0DE0601 73616665")
            agent.finish()
        },
        secured("S44: a link that ends takes its pairing along", showing) { c in
            let agent = c.makeAgent(.keyboardOnly)
            let (peripheral, service) = try await c.connect(discovering: "C0DE0006")
            peripheral.readValue(for: try service.characteristic("C0DE0601"))
            try await agent.expect("asks enterPasskey")
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect disconnected ! CBError 7")
            try await agent.expect("asks no more", "pairing failed ! CBError 7")
            agent.finish()
        },
    ]

    /// A scenario with the peer's protected service, which is there before the link.
    private static func secured(
        _ name: String, _ pairing: PeerPairing = PeerPairing(), emulatorOnly: String? = nil,
        _ body: @escaping CentralBody
    ) -> ContractScenario {
        ContractScenario(name, needs: [.pairing], emulatorOnly: emulatorOnly) { c in
            try await c.perform(.secure(pairing))
            try await body(c)
        }
    }
}
