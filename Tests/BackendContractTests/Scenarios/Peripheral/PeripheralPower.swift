import CoreBluetooth
import Testing

extension ContractScenario {
    static let peripheralPower: [ContractScenario] = [
        .peripheral("services and advertising survive a power cycle", proving: "S104", "S105") { p in
            let service = try await p.serve()
            try await p.switchOff()
            #expect(!p.manager.isAdvertising)
            try await p.one.expect(.disconnected("remote"))
            try await p.switchOn()
            try await p.one.perform(.connect(service: .served))
            #expect(p.manager.isAdvertising)
            try await p.one.expect(.connected)
            try await p.roundTrip()
            p.manager.add(service)
            try await p.expect(.didAdd(.served).failing(.invalidParameters))
        },
        .peripheral("a power-off disconnects centrals, and only the state is reported", proving: "S104") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            try await p.switchOff()
            #expect(notify.subscribedCentrals?.isEmpty == true)
            try await p.one.expect(.disconnected("remote"))
            try await p.switchOn()
            #expect(p.update(notify, [1]))
            try await p.one.connect()
            try await p.subscribe(.updating)
            #expect(p.update(notify, [2]))
            try await p.one.expect(.notified(.updating, [2]))
        },
        .peripheral("below poweredOn the peripheral role ignores its calls", proving: "S9") { p in
            let service = try await p.publish()
            try await p.switchOff()
            p.manager.add(LocalServices.other())
            p.manager.startAdvertising(nil)
            p.manager.removeAllServices()
            #expect(
                !p.update(try service.mutable(.updating), [1]))
            try await p.switchOn()
            try await p.one.connect()
            try await p.one.discover(.served)
        },
        .peripheral("a restart of the service clears what was published", proving: "S104", "S15") { p in
            let service = try await p.publish()
            try await p.perform(.daemon(isRunning: false))
            try await p.wait("resetting") { [trace = p.trace] in trace.states.contains(.resetting) }
            #expect(!p.manager.isAdvertising)
            try await p.perform(.daemon(isRunning: true))
            try await p.powerOn()
            #expect(!p.manager.isAdvertising)
            try await p.one.expectAdvertisers()
            try await p.add(service)
            try await p.advertise()
            try await p.one.connect()
            try await p.one.discover(.served)
        },
        .peripheral("a response after a power-off is ignored", proving: "S134") { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            try await p.expect(.didReceiveRead(.dynamic))
            try await p.switchOff()
            try await p.one.expect(.disconnected("remote"))
            try p.respondToRead(with: [1])
            try await p.switchOn()
            try await p.one.connect()
            try await p.roundTrip()
        },
    ]
}
