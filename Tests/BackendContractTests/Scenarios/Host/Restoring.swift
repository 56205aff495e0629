import CoreBluetooth
import Testing

extension ContractScenario {
    static let restoring: [ContractScenario] = [
        ContractScenario("S141 S142: a central app gets its links and subscriptions back", needs: [.restoration]) { c in
            try await c.powerOn()
            let first = c.makeOther(restoring: "app")
            let (peripheral, service) = try await first.connect(discovering: "C0DE0001")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0103"))
            try await first.expect("didUpdateNotificationState C0DE0103 true")
            try await c.perform(.endApp("app"))
            let second = c.makeOther(restoring: "app")
            try await second.expect(#"willRestore ["Contract Peer connected"] scanning []"#)
            try await second.powerOn()
            let restored = try #require(second.trace.restoredPeripherals.first)
            #expect(restored.state == .connected)
            #expect(restored.identifier == peripheral.identifier)
            let known = try #require(restored.services?.first { $0.uuid == CBUUID(contract: "C0DE0001") })
            #expect(try known.characteristic("C0DE0103").isNotifying)
            try await c.perform(.notify("C0DE0103", Data([7])))
            try await second.expect("didUpdateValue C0DE0103 07")
            first.finish()
            second.finish()
        },
        ContractScenario("S142: a connection under way, and a scan, are restored", needs: [.restoration]) { c in
            try await c.powerOn()
            let first = c.makeOther(restoring: "app")
            let peripheral = try await first.find()
            try await c.perform(.advertise(.contract, false))
            first.manager.connect(peripheral)
            first.manager.scanForPeripherals(withServices: [CBUUID(contract: "C0DE0005")])
            try await c.perform(.endApp("app"))
            let second = c.makeOther(restoring: "app")
            try await second.expect(#"willRestore ["Contract connecting"] scanning ["C0DE0005"]"#)
            try await second.powerOn()
            #expect(second.manager.isScanning)
            try await c.perform(.advertise(.contract, true))
            try await second.expect("didConnect connected")
            first.finish()
            second.finish()
        },
        ContractScenario("S141: without a state to restore the state of the adapter comes first") { c in
            let other = c.makeOther(restoring: "fresh")
            try await c.powerOn()
            try await other.powerOn()
            other.finish()
        },
        ContractScenario(
            peripheral: "S141 S143: a peripheral app gets its services and subscribers back", needs: [.restoration]
        ) { p in
            try await p.powerOn()
            let first = p.makeOther(restoring: "app")
            _ = try await first.serve()
            try await first.subscribe("C0DE1003")
            try await p.perform(.endApp("app"))
            let second = p.makeOther(restoring: "app")
            try await second.expect(#"willRestore ["C0DE1000"] advertising Served"#)
            try await second.powerOn()
            try await second.wait("advertising") { [manager = Carried(second.manager)] in
                manager.object.isAdvertising
            }
            let notify = try #require(try second.trace.restoredServices.first?.mutable("C0DE1003"))
            #expect(notify.subscribedCentrals?.count == 1)
            #expect(second.manager.updateValue(Data([7]), for: notify, onSubscribedCentrals: nil))
            try await p.one.expect("notified C0DE1003 07")
            try await p.one.perform(.read("C0DE1001"))
            try await second.expect("didReceiveRead C0DE1001 @0")
            try second.answerRead(Data([8]))
            try await p.one.expect("read C0DE1001 08")
            first.finish()
            second.finish()
        },
    ]

    static let connectionEvents: [ContractScenario] = [
        ContractScenario("S155: connections of other apps are told, if they match", needs: [.otherApps]) { c in
            let peripheral = try await c.find()
            let other = c.makeOther()
            try await other.powerOn()
            c.manager.registerForConnectionEvents(options: [
                .peripheralUUIDs: [peripheral.identifier], .serviceUUIDs: [CBUUID(string: "1812")],
            ])
            other.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "1812")]])
            try await c.perform(.otherApp(isConnected: true))
            try await c.expect("connectionEvent connected")
            #expect(peripheral.state == .disconnected)
            try await c.perform(.otherApp(isConnected: false))
            try await c.expect("connectionEvent disconnected")
            other.finish()
        },
        ContractScenario("S155: asking for nothing ends the connection events", needs: [.otherApps]) { c in
            _ = try await c.find()
            c.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(contract: "C0DE0001")]])
            try await c.perform(.otherApp(isConnected: true))
            try await c.expect("connectionEvent connected")
            c.manager.registerForConnectionEvents(options: nil)
            try await c.perform(.otherApp(isConnected: false))
            try await c.wait("the end of the link") { [manager = Carried(c.manager)] in
                manager.object.retrieveConnectedPeripherals(withServices: [CBUUID(contract: "C0DE0001")]).isEmpty
            }
        },
        ContractScenario("S54: what another app connected is retrieved, and can be shared", needs: [.otherApps]) { c in
            let peripheral = try await c.find()
            try await c.perform(.otherApp(isConnected: true))
            try await c.wait("the link") { [manager = Carried(c.manager)] in
                !manager.object.retrieveConnectedPeripherals(withServices: [CBUUID(contract: "C0DE0001")]).isEmpty
            }
            #expect(peripheral.state == .disconnected)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
            #expect(try await c.perform(.connections).count == 1)
        },
        ContractScenario("S48 S45: after a loss the system connects again, until it is told not to") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
            try await c.expect("didConnect connected")
            try await c.fence(peripheral, c.discover("180F", of: peripheral).characteristic("2A19"))
            try await c.perform(.advertise(.contract, false))
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect connecting reconnecting ! CBError 7")
            #expect(peripheral.state == .connecting)
            c.manager.cancelPeripheralConnection(peripheral)
            try await c.expect("didDisconnect disconnected")
            try await c.perform(.settle)
            try await c.perform(.advertise(.contract, true))
            #expect(try await c.perform(.connections).count == 0)
        },
    ]
}
