import CoreBluetooth
import Testing

extension ContractScenario {
    static let connecting: [ContractScenario] = [
        .central("the state is connecting, then connected, without services", proving: "S34", "S36") { c in
            let peripheral = try await c.find()
            #expect(peripheral.state == .disconnected)
            c.manager.connect(peripheral)
            #expect(peripheral.state == .connecting)
            try await c.expect(.didConnect())
            #expect(peripheral.services == nil)
            #expect(try await c.perform(.connections).count == 1)
        },
        .central("a cancelled connection ends without error", proving: "S40") { c in
            let peripheral = try await c.connect()
            c.manager.cancelPeripheralConnection(peripheral)
            // BlueZ may have disconnected already.
            #expect([.disconnecting, .disconnected].contains(peripheral.state))
            try await c.expect(.didDisconnect())
        },
        .central("an attempt stays pending, and cancelling it calls didDisconnectPeripheral", proving: "S35", "S42") {
            c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            #expect(peripheral.state == .connecting)
            c.manager.cancelPeripheralConnection(peripheral)
            #expect(peripheral.state == .disconnected)
            try await c.expect(.didDisconnect())
        },
        .central("cancelling without a connection does nothing", proving: "S42") { c in
            let peripheral = try await c.find()
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.connect(peripheral)
        },
        .central("a pending attempt succeeds when the peer advertises again", proving: "S35") { c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            try await c.perform(.advertise(.contract, true))
            try await c.expect(.didConnect())
        },
        .central("connecting while connected calls didConnect again", proving: "S39") { c in
            let peripheral = try await c.connect()
            try await c.connect(peripheral)
        },
        .central("connecting twice before the link is one request", proving: "S39") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral)
            try await c.connect(peripheral)
            try await c.roundTrip(peripheral, c.discover(.battery, of: peripheral).characteristic(.batteryLevel))
        },
        .central("a disconnection by the peer has an error", proving: "S44") { c in
            let peripheral = try await c.connect()
            try await c.disconnectFromPeer()
            #expect(peripheral.state == .disconnected)
        },
        .central("a lost link is a connection time-out", proving: "S44") { c in
            let (peripheral, service) = try await c.connect(discovering: .battery)
            try await c.roundTrip(peripheral, service.characteristic(.batteryLevel))
            try await c.perform(.lose())
            try await c.expect(.didDisconnect().failing(.connectionTimeout))
        },
        .central("services are nil after a disconnection, and the peripheral can connect again", proving: "S47") { c in
            let (peripheral, _) = try await c.connect(discovering: .battery)
            try await c.disconnectFromPeer()
            #expect(peripheral.services == nil)
            try await c.connect(peripheral)
            _ = try await c.discover(.battery, of: peripheral)
        },
        .central("an outstanding read gets no callback when the link ends", proving: "S46") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            try await c.perform(.hold(true))
            peripheral.readValue(for: try service.characteristic(.stored))
            try await c.perform(.awaitHeldRead)
            try await c.disconnectFromPeer()
        },
        .central("commands without a connection are ignored", proving: "S55") { c in
            let peripheral = try await c.find()
            peripheral.discoverServices(nil)
            peripheral.readRSSI()
            try await c.connect(peripheral)
        },
        .central("two managers share a link, and one of them may disconnect", proving: "S41", "S38") { c in
            let peripheral = try await c.connect()
            let other = try await c.makeOtherPoweredOn()
            let shared = try await other.connect(sharing: peripheral)
            try await c.cancel(peripheral)
            let service = try await other.discover(.battery, of: shared)
            try await other.roundTrip(shared, service.characteristic(.batteryLevel))
            #expect(try await c.perform(.connections).count == 1)
            other.finish()
        },
        .central("known peripherals are retrieved, and unknown identifiers left out", proving: "S52", "S53") { c in
            let peripheral = try await c.find()
            let found = c.manager.retrievePeripherals(withIdentifiers: [UUID(), peripheral.identifier])
            #expect(found.count == 1)
            #expect(found.first === peripheral)
        },
        .central("connected peripherals are retrieved by their services", proving: "S54") { c in
            let (peripheral, _) = try await c.connect(discovering: .main)
            let other = try await c.makeOtherPoweredOn()
            let found = other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(.main)])
            #expect(found.map(\.identifier) == [peripheral.identifier])
            #expect(found.first?.state == .disconnected)
            #expect(other.manager.retrieveConnectedPeripherals(withServices: []).isEmpty)
            #expect(other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(.humanInterfaceDevice)]).isEmpty)
        },
        .central("a lost link is established again with auto-reconnect", proving: "S48", "S49") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
            try await c.expect(.didConnect())
            try await c.perform(.disconnect)
            try await c.expect(
                .didDisconnect(.connecting, isReconnecting: true).failing(.peripheralDisconnected), .didConnect())
            try await c.cancel(peripheral)
        },
        .central("the GAP name replaces the advertised one", proving: "S99", "S100") { c in
            let peripheral = try await c.find()
            #expect(peripheral.name == "Contract")
            try await c.connect(peripheral)
            try await c.wait("the GAP name") { [trace = c.trace] in trace.names.contains("Contract Peer") }
            #expect(peripheral.name == "Contract Peer")
        },
    ]
}
