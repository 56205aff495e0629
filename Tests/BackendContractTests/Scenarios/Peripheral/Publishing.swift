import CoreBluetooth
import Testing

extension ContractScenario {
    static let publishing: [ContractScenario] = [
        ContractScenario(peripheral: "S1 S2: a new peripheral manager is unknown, then told its state") { p in
            #expect(p.stateAtFirst == .unknown)
            try await p.powerOn()
            #expect(p.trace.states == [.poweredOn])
            #expect(!p.manager.isAdvertising)
        },
        ContractScenario(peripheral: "S106: each add is answered, in the order of the calls") { p in
            try await p.powerOn()
            p.manager.add(LocalServices.small("C0DE1000", "C0DE1002", "one"))
            p.manager.add(LocalServices.small("C0DE2000", "C0DE2001", "two"))
            try await p.expect("didAdd C0DE1000", "didAdd C0DE2000")
            try await p.advertise()
            try await p.one.perform(.connect())
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services C0DE1000 C0DE2000")
        },
        ContractScenario(peripheral: "S112 S105: publishing an instance twice is an error") { p in
            let service = try await p.publish(LocalServices.small("C0DE1000", "C0DE1002", "one"))
            p.manager.add(service)
            try await p.expect("didAdd C0DE1000 ! CBError 1")
            try await p.one.perform(.connect())
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services C0DE1000")
        },
        ContractScenario(peripheral: "S112: instances of equal UUID are separate services") { p in
            _ = try await p.publish(LocalServices.small("C0DE1000", "C0DE1002", "one"))
            try await p.add(LocalServices.small("C0DE1000", "C0DE1002", "two"))
            try await p.one.perform(.connect())
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services C0DE1000 C0DE1000")
        },
        ContractScenario(peripheral: "S110: an included service has to be published first") { p in
            try await p.powerOn()
            let included = LocalServices.small("C0DE2000", "C0DE2001", "two")
            let service = LocalServices.small("C0DE1000", "C0DE1002", "one")
            service.includedServices = [included]
            p.manager.add(service)
            try await p.expect("didAdd C0DE1000 ! CBError 1")
            try await p.add(included)
            try await p.add(service)
        },
        ContractScenario(peripheral: "S111: a reserved service is refused") { p in
            try await p.powerOn()
            p.manager.add(CBMutableService(type: CBUUID(string: "1801"), primary: true))
            try await p.expect("didAdd 1801 ! CBError 8")
        },
        ContractScenario(peripheral: "S116: broadcast and extended properties are not the app's to publish") { p in
            try await p.powerOn()
            for property in [.broadcast, .extendedProperties] as [CBCharacteristicProperties] {
                p.manager.add(
                    LocalServices.service(
                        "C0DE1000", [LocalServices.dynamic("C0DE1001", [.read, property], .readable)]))
                try await p.expect("didAdd C0DE1000 ! CBError 1")
            }
        },
        ContractScenario(peripheral: "S113: a connected central sees a new service and one that goes") { p in
            _ = try await p.serve()
            let extra = LocalServices.small("C0DE2000", "C0DE2001", "two")
            try await p.add(extra)
            try await p.one.expect(#"services changed -[] +["C0DE2000"]"#)
            try await p.one.perform(.discover)
            try await p.one.perform(.read("C0DE2001"))
            try await p.one.expect("services C0DE1000 C0DE2000", "read C0DE2001 74776F")
            p.manager.remove(extra)
            try await p.one.expect(#"services changed -["C0DE2000"] +[]"#)
            try await p.one.perform(.discover)
            try await p.one.expect("services C0DE1000")
        },
        ContractScenario(peripheral: "S113: removing what is not published does nothing") { p in
            _ = try await p.serve()
            p.manager.remove(LocalServices.small("C0DE2000", "C0DE2001", "two"))
            try await p.fence()
        },
        ContractScenario(peripheral: "S113: a service that another includes stays") { p in
            let included = LocalServices.small("C0DE2000", "C0DE2001", "two")
            try await p.powerOn()
            try await p.add(included)
            let service = LocalServices.main()
            service.includedServices = [included]
            _ = try await p.serve(service)
            p.manager.remove(included)
            try await p.one.perform(.read("C0DE2001"))
            try await p.one.expect("read C0DE2001 74776F")
            p.manager.remove(service)
            try await p.one.expect(#"services changed -["C0DE1000"] +[]"#)
            p.manager.remove(included)
            try await p.one.expect(#"services changed -["C0DE2000"] +[]"#)
        },
        ContractScenario(peripheral: "S113: all services are removed at once, and can be published again") { p in
            let service = try await p.serve()
            try await p.add(LocalServices.small("C0DE2000", "C0DE2001", "two"))
            try await p.one.expect(#"services changed -[] +["C0DE2000"]"#)
            try await p.one.perform(.discover)
            try await p.one.expect("services C0DE1000 C0DE2000")
            p.manager.removeAllServices()
            try await p.one.expect(#"services changed -["C0DE1000", "C0DE2000"] +[]"#)
            try await p.add(service)
            try await p.one.expect(#"services changed -[] +["C0DE1000"]"#)
        },
        ContractScenario(peripheral: "S103: the services of a manager go with it") { p in
            try await p.powerOn()
            var other: PeripheralContext? = p.makeOther()
            _ = try await other?.serve()
            other?.finish()
            other = nil
            try await p.one.expect(#"services changed -["C0DE1000"] +[]"#)
            try await p.one.perform(.discover)
            try await p.one.expect("services ")
        },
        ContractScenario(peripheral: "S114: services are reachable whether they are advertised or not") { p in
            _ = try await p.publish()
            try await p.add(LocalServices.small("C0DE2000", "C0DE2001", "two"))
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.perform(.read("C0DE2001"))
            try await p.one.expect("connected", "read C0DE2001 74776F")
        },
        ContractScenario(peripheral: "S107: what is published is as it was when it was added") { p in
            let service = LocalServices.main()
            let locked = try service.mutable("C0DE1006")
            _ = try await p.serve(service)
            locked.permissions = .readable
            #expect(locked.permissions == [])
            service.characteristics = []
            #expect(service.characteristics?.count == 9)
            try await p.one.perform(.read("C0DE1006"))
            try await p.one.expect("read C0DE1006 ! 2")
        },
    ]
}
