import CoreBluetooth
import Testing

extension ContractScenario {
    static let restoring: [ContractScenario] = [
        .central(
            "the links and subscriptions of a central app are restored", proving: "S141", "S142", needs: .restoration
        ) { c in
            try await c.powerOn()
            let first = c.makeOther(restoring: "app")
            let (peripheral, service) = try await first.connect(discovering: .main)
            try await first.subscribe(to: service.characteristic(.notifying), of: peripheral)
            try await c.perform(.endApp("app"))
            let second = c.makeOther(restoring: "app")
            try await second.expect(.willRestore(["Contract Peer": .connected], scanning: []))
            try await second.powerOn()
            let restored = try #require(second.trace.restoredPeripherals.first)
            #expect(restored.state == .connected)
            #expect(restored.identifier == peripheral.identifier)
            let known = try #require(restored.services?.first { $0.uuid == CBUUID(.main) })
            #expect(try known.characteristic(.notifying).isNotifying)
            try await c.perform(.notify(.notifying, [7]))
            try await second.expect(.didUpdateValue(.notifying, [7]))
            first.finish()
            second.finish()
        },
        .central("a pending connection and a scan are restored", proving: "S142", needs: .restoration) { c in
            try await c.powerOn()
            let first = c.makeOther(restoring: "app")
            let peripheral = try await first.find()
            try await c.perform(.advertise(.contract, false))
            first.manager.connect(peripheral)
            first.manager.scanForPeripherals(withServices: [CBUUID(.second)])
            try await c.perform(.endApp("app"))
            let second = c.makeOther(restoring: "app")
            try await second.expect(.willRestore(["Contract": .connecting], scanning: [.second]))
            try await second.powerOn()
            #expect(second.manager.isScanning)
            try await c.perform(.advertise(.contract, true))
            try await second.expect(.didConnect())
            first.finish()
            second.finish()
        },
        .central("without preserved state the adapter's state comes first", proving: "S141") { c in
            let other = c.makeOther(restoring: "fresh")
            try await c.powerOn()
            try await other.powerOn()
            other.finish()
        },
        .peripheral(
            "the services and subscribers of a peripheral app are restored", proving: "S141", "S143",
            needs: .restoration
        ) { p in
            try await p.powerOn()
            let first = p.makeOther(restoring: "app")
            _ = try await first.serve()
            try await first.subscribe(.updating)
            try await p.perform(.endApp("app"))
            let second = p.makeOther(restoring: "app")
            try await second.expect(.willRestoreServices([.served], advertising: "Served"))
            try await second.powerOn()
            try await second.wait("advertising") { [manager = Carried(second.manager)] in
                manager.object.isAdvertising
            }
            let notify = try #require(try second.trace.restoredServices.first?.mutable(.updating))
            #expect(notify.subscribedCentrals?.count == 1)
            #expect(second.update(notify, [7]))
            try await p.one.expect(.notified(.updating, [7]))
            try await p.one.perform(.read(.dynamic))
            try await second.answerRead(with: [8])
            try await p.one.expect(.read(.dynamic, [8]))
            first.finish()
            second.finish()
        },
    ]

    static let connectionEvents: [ContractScenario] = [
        .central("matching connections of other apps are reported", proving: "S155", needs: .otherApps) { c in
            let peripheral = try await c.find()
            let other = try await c.makeOtherPoweredOn()
            c.manager.registerForConnectionEvents(options: [
                .peripheralUUIDs: [peripheral.identifier], .serviceUUIDs: [CBUUID(.humanInterfaceDevice)],
            ])
            other.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(.humanInterfaceDevice)]])
            try await c.perform(.otherApp(isConnected: true))
            try await c.expect(.connectionEvent(.peerConnected))
            #expect(peripheral.state == .disconnected)
            try await c.perform(.otherApp(isConnected: false))
            try await c.expect(.connectionEvent(.peerDisconnected))
            other.finish()
        },
        .central("registering without options ends the connection events", proving: "S155", needs: .otherApps) { c in
            _ = try await c.find()
            c.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(.main)]])
            try await c.perform(.otherApp(isConnected: true))
            try await c.expect(.connectionEvent(.peerConnected))
            c.manager.registerForConnectionEvents(options: nil)
            try await c.perform(.otherApp(isConnected: false))
            try await c.wait("the end of the link") { [manager = Carried(c.manager)] in
                manager.object.retrieveConnectedPeripherals(withServices: [CBUUID(.main)]).isEmpty
            }
        },
        .central(
            "a peripheral that another app connected is retrieved and can be shared", proving: "S54", needs: .otherApps
        ) { c in
            let peripheral = try await c.find()
            try await c.perform(.otherApp(isConnected: true))
            try await c.wait("the link") { [manager = Carried(c.manager)] in
                !manager.object.retrieveConnectedPeripherals(withServices: [CBUUID(.main)]).isEmpty
            }
            #expect(peripheral.state == .disconnected)
            try await c.connect(peripheral)
            try await c.cancel(peripheral)
            #expect(try await c.perform(.connections).count == 1)
        },
        .central("after a loss the system connects again until the app cancels", proving: "S48", "S45") { c in
            let peripheral = try await c.find()
            c.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
            try await c.expect(.didConnect())
            try await c.roundTrip(peripheral, c.discover(.battery, of: peripheral).characteristic(.batteryLevel))
            try await c.perform(.advertise(.contract, false))
            try await c.perform(.disconnect)
            try await c.expect(.didDisconnect(.connecting, isReconnecting: true).failing(.peripheralDisconnected))
            #expect(peripheral.state == .connecting)
            try await c.cancel(peripheral)
            try await c.perform(.settle)
            try await c.perform(.advertise(.contract, true))
            #expect(try await c.perform(.connections).count == 0)
        },
    ]
}
