import CoreBluetooth
import Testing

extension ContractScenario {
    static let connecting: [ContractScenario] = [
        ContractScenario("S34 S36: connecting, then connected, without services") { c in
            let peripheral = try await c.find()
            #expect(peripheral.state == .disconnected)
            c.manager.connect(peripheral)
            #expect(peripheral.state == .connecting)
            try await c.expect("didConnect connected")
            #expect(peripheral.services == nil)
            #expect(try await c.perform(.connections).count == 1)
        },
        ContractScenario("S40: a cancelled connection ends without an error") { c in
            let peripheral = try await c.connect()
            c.manager.cancelPeripheralConnection(peripheral)
            // A real radio may be done already.
            #expect([.disconnecting, .disconnected].contains(peripheral.state))
            try await c.expect("didDisconnect disconnected")
        },
        ContractScenario("S35 S42: an attempt stays pending, and its cancel is a disconnection") { c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            #expect(peripheral.state == .connecting)
            c.manager.cancelPeripheralConnection(peripheral)
            #expect(peripheral.state == .disconnected)
            try await c.expect("didDisconnect disconnected")
        },
        ContractScenario("S42: cancelling what is not connected does nothing") { c in
            let peripheral = try await c.find()
            c.manager.cancelPeripheralConnection(peripheral)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
        },
        ContractScenario("S35: a pending attempt succeeds when the peer comes back") { c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            try await c.perform(.advertise(.contract, true))
            try await c.expect("didConnect connected")
        },
        ContractScenario("S39: connecting when connected is told again") { c in
            let peripheral = try await c.connect()
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
        },
        ContractScenario("S39: connecting twice is one request") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            try await c.fence(peripheral, c.discover("180F", of: peripheral).characteristic("2A19"))
        },
        ContractScenario("S44: a peer that closes the link is an error") { c in
            let peripheral = try await c.connect()
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect disconnected ! CBError 7")
            #expect(peripheral.state == .disconnected)
        },
        ContractScenario("S44: a lost link is a connection time-out") { c in
            let (peripheral, service) = try await c.connect(discovering: "180F")
            try await c.fence(peripheral, service.characteristic("2A19"))
            try await c.perform(.lose())
            try await c.expect("didDisconnect disconnected ! CBError 6")
        },
        ContractScenario("S47: services are nil after a disconnection, and the peripheral connects again") { c in
            let (peripheral, _) = try await c.connect(discovering: "180F")
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect disconnected ! CBError 7")
            #expect(peripheral.services == nil)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            _ = try await c.discover("180F", of: peripheral)
        },
        ContractScenario("S46: an outstanding read vanishes with the link") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            try await c.perform(.hold(true))
            peripheral.readValue(for: try service.characteristic("C0DE0101"))
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect disconnected ! CBError 7")
        },
        ContractScenario("S55: commands without a connection are ignored") { c in
            let peripheral = try await c.find()
            peripheral.discoverServices(nil)
            peripheral.readRSSI()
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
        },
        ContractScenario("S41 S38: two managers share a link, and one may leave it") { c in
            let peripheral = try await c.connect()
            let other = c.makeOther()
            try await other.powerOn()
            let shared = try #require(
                other.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
            shared.delegate = other.trace
            #expect(shared.state == .disconnected)
            #expect(shared !== peripheral)
            other.manager.connect(shared)
            try await other.expect("didConnect connected")
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
            let service = try await other.discover("180F", of: shared)
            try await other.fence(shared, service.characteristic("2A19"))
            #expect(try await c.perform(.connections).count == 1)
            other.finish()
        },
        ContractScenario("S52 S53: known peripherals are retrieved, unknown ones left out") { c in
            let peripheral = try await c.find()
            let found = c.manager.retrievePeripherals(withIdentifiers: [UUID(), peripheral.identifier])
            #expect(found.count == 1)
            #expect(found.first === peripheral)
        },
        ContractScenario("S54: connected peripherals are retrieved by their services") { c in
            let (peripheral, _) = try await c.connect(discovering: "C0DE0001")
            let other = c.makeOther()
            try await other.powerOn()
            let found = other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(contract: "C0DE0001")])
            #expect(found.map(\.identifier) == [peripheral.identifier])
            #expect(found.first?.state == .disconnected)
            #expect(other.manager.retrieveConnectedPeripherals(withServices: []).isEmpty)
            #expect(other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1812")]).isEmpty)
        },
        ContractScenario("S48 S49: a lost link is made again by itself, if wanted") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
            try await c.expect("didConnect connected")
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect connecting reconnecting ! CBError 7", "didConnect connected")
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
        },
        ContractScenario("S99 S100: the GAP name replaces the advertised one") { c in
            let peripheral = try await c.find()
            #expect(peripheral.name == "Contract")
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            try await c.wait("the GAP name") { [trace = c.trace] in trace.names.contains("Contract Peer") }
            #expect(peripheral.name == "Contract Peer")
        },
    ]
}
