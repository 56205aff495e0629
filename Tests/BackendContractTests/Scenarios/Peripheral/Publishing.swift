import CoreBluetooth
import Testing

extension ContractScenario {
    static let publishing: [ContractScenario] = [
        .peripheral("a new peripheral manager is unknown, then receives its state", proving: "S1", "S2") { p in
            #expect(p.stateAtFirst == .unknown)
            try await p.powerOn()
            #expect(p.trace.states == [.poweredOn])
            #expect(!p.manager.isAdvertising)
        },
        .peripheral("each add is answered, in the order of the calls", proving: "S106") { p in
            try await p.powerOn()
            p.manager.add(LocalServices.small())
            p.manager.add(LocalServices.other())
            try await p.expect(.didAdd(.served), .didAdd(.other))
            try await p.advertise()
            try await p.one.connect()
            try await p.one.discover(.served, .other)
        },
        .peripheral("publishing an instance twice is an error", proving: "S112", "S105") { p in
            let service = try await p.publish(LocalServices.small())
            p.manager.add(service)
            try await p.expect(.didAdd(.served).failing(.invalidParameters))
            try await p.one.connect()
            try await p.one.discover(.served)
        },
        .peripheral("instances of equal UUID are separate services", proving: "S112") { p in
            _ = try await p.publish(LocalServices.small())
            try await p.add(LocalServices.small(.served, .constant, "two"))
            try await p.one.connect()
            try await p.one.discover(.served, .served)
        },
        .peripheral("an included service has to be published first", proving: "S110") { p in
            try await p.powerOn()
            let included = LocalServices.other()
            let service = LocalServices.small()
            service.includedServices = [included]
            p.manager.add(service)
            try await p.expect(.didAdd(.served).failing(.invalidParameters))
            try await p.add(included)
            try await p.add(service)
        },
        .peripheral("a reserved service is refused", proving: "S111") { p in
            try await p.powerOn()
            p.manager.add(CBMutableService(type: CBUUID(.genericAttribute), primary: true))
            try await p.expect(.didAdd(.genericAttribute).failing(.uuidNotAllowed))
        },
        .peripheral("broadcast and extended properties are not the app's to publish", proving: "S116") { p in
            try await p.powerOn()
            for property in [.broadcast, .extendedProperties] as [CBCharacteristicProperties] {
                p.manager.add(
                    LocalServices.service(
                        .served, [LocalServices.dynamic(.dynamic, [.read, property], .readable)]))
                try await p.expect(.didAdd(.served).failing(.invalidParameters))
            }
        },
        .peripheral("a connected central learns of added and removed services", proving: "S113") { p in
            _ = try await p.serve()
            let extra = LocalServices.other()
            try await p.add(extra)
            try await p.one.expect(.servicesChanged(added: [.other]))
            try await p.one.perform(.discover)
            try await p.one.perform(.read(.otherValue))
            try await p.one.expect(.services([.served, .other]), .read(.otherValue, Data("two".utf8)))
            p.manager.remove(extra)
            try await p.one.expect(.servicesChanged(removed: [.other]))
            try await p.one.discover(.served)
        },
        .peripheral("removing an unpublished service does nothing", proving: "S113") { p in
            _ = try await p.serve()
            p.manager.remove(LocalServices.other())
            try await p.roundTrip()
        },
        .peripheral("an included service is removed only after the service that includes it", proving: "S113") { p in
            let included = LocalServices.other()
            try await p.powerOn()
            try await p.add(included)
            let service = LocalServices.main()
            service.includedServices = [included]
            _ = try await p.serve(service)
            p.manager.remove(included)
            try await p.one.read(.otherValue, expecting: "two")
            p.manager.remove(service)
            try await p.one.expect(.servicesChanged(removed: [.served]))
            p.manager.remove(included)
            try await p.one.expect(.servicesChanged(removed: [.other]))
        },
        .peripheral("all services are removed at once, and can be published again", proving: "S113") { p in
            let service = try await p.serve()
            try await p.add(LocalServices.other())
            try await p.one.expect(.servicesChanged(added: [.other]))
            try await p.one.discover(.served, .other)
            p.manager.removeAllServices()
            try await p.one.expect(.servicesChanged(removed: [.served, .other]))
            try await p.add(service)
            try await p.one.expect(.servicesChanged(added: [.served]))
        },
        .peripheral("releasing a manager removes its services", proving: "S103") { p in
            try await p.powerOn()
            var other: PeripheralContext? = p.makeOther()
            _ = try await other?.serve()
            other?.finish()
            other = nil
            try await p.one.expect(.servicesChanged(removed: [.served]))
            try await p.one.discover()
        },
        .peripheral("services are reachable whether they are advertised or not", proving: "S114") { p in
            _ = try await p.publish()
            try await p.add(LocalServices.other())
            try await p.one.perform(.connect(service: .served))
            try await p.one.perform(.read(.otherValue))
            try await p.one.expect(.connected, .read(.otherValue, Data("two".utf8)))
        },
        .peripheral("published services do not change after they are added", proving: "S107") { p in
            let service = LocalServices.main()
            let locked = try service.mutable(.locked)
            _ = try await p.serve(service)
            locked.permissions = .readable
            #expect(locked.permissions == [])
            service.characteristics = []
            #expect(service.characteristics?.count == 9)
            try await p.one.perform(.read(.locked))
            try await p.one.expect(.read(.locked).failing(response: .readNotPermitted))
        },
    ]
}
