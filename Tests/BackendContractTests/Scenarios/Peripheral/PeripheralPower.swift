import CoreBluetooth
import Testing

extension ContractScenario {
    static let peripheralPower: [ContractScenario] = [
        ContractScenario(peripheral: "S104 S105: services and advertising survive a power cycle") { p in
            let service = try await p.serve()
            try await p.perform(.adapter(isPowered: false))
            try await p.wait("poweredOff") { [trace = p.trace] in trace.states.last == .poweredOff }
            #expect(!p.manager.isAdvertising)
            try await p.one.expect("disconnected remote")
            try await p.perform(.adapter(isPowered: true))
            try await p.powerOn()
            try await p.one.perform(.connect(service: "C0DE1000"))
            #expect(p.manager.isAdvertising)
            try await p.one.expect("connected")
            try await p.fence()
            p.manager.add(service)
            try await p.expect("didAdd C0DE1000 ! CBError 1")
        },
        ContractScenario(peripheral: "S104: centrals go with the power, without a word but the state") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            try await p.perform(.adapter(isPowered: false))
            try await p.wait("poweredOff") { [trace = p.trace] in trace.states.last == .poweredOff }
            #expect(notify.subscribedCentrals?.isEmpty == true)
            try await p.one.expect("disconnected remote")
            try await p.perform(.adapter(isPowered: true))
            try await p.powerOn()
            #expect(p.manager.updateValue(Data([1]), for: notify, onSubscribedCentrals: nil))
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.expect("connected")
            try await p.subscribe("C0DE1003")
            #expect(p.manager.updateValue(Data([2]), for: notify, onSubscribedCentrals: nil))
            try await p.one.expect("notified C0DE1003 02")
        },
        ContractScenario(peripheral: "S9: below poweredOn the peripheral role ignores its calls") { p in
            let service = try await p.publish()
            try await p.perform(.adapter(isPowered: false))
            try await p.wait("poweredOff") { [trace = p.trace] in trace.states.last == .poweredOff }
            p.manager.add(LocalServices.small("C0DE2000", "C0DE2001", "two"))
            p.manager.startAdvertising(nil)
            p.manager.removeAllServices()
            #expect(
                !p.manager.updateValue(Data([1]), for: try service.mutable("C0DE1003"), onSubscribedCentrals: nil))
            try await p.perform(.adapter(isPowered: true))
            try await p.powerOn()
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services C0DE1000")
        },
        ContractScenario(peripheral: "S104 S15: a restart of the service clears what was published") { p in
            let service = try await p.publish()
            try await p.perform(.daemon(isRunning: false))
            try await p.wait("resetting") { [trace = p.trace] in trace.states.contains(.resetting) }
            #expect(!p.manager.isAdvertising)
            try await p.perform(.daemon(isRunning: true))
            try await p.powerOn()
            #expect(!p.manager.isAdvertising)
            #expect(try await p.one.perform(.listen(milliseconds: 2000)).lines == [])
            try await p.add(service)
            try await p.advertise()
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services C0DE1000")
        },
        ContractScenario(peripheral: "S134: a request that is open when power goes is answered in vain") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try await p.perform(.adapter(isPowered: false))
            try await p.wait("poweredOff") { [trace = p.trace] in trace.states.last == .poweredOff }
            try await p.one.expect("disconnected remote")
            try p.answerRead(Data([1]))
            try await p.perform(.adapter(isPowered: true))
            try await p.powerOn()
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.expect("connected")
            try await p.fence()
        },
    ]
}
