import CoreBluetooth
import Testing

extension ContractScenario {
    static let advertising: [ContractScenario] = [
        .peripheral("advertising is reported when it has started, and centrals receive it", proving: "S119") { p in
            try await p.powerOn()
            #expect(!p.manager.isAdvertising)
            try await p.advertise()
            #expect(p.manager.isAdvertising)
            try await p.one.expectAdvertisers(.init(name: "Served", services: [.served]))
        },
        .peripheral("starting twice is an error, and the first data stay", proving: "S120") { p in
            try await p.powerOn()
            try await p.advertise()
            p.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Other"])
            try await p.expect(.didStartAdvertising().failing(.alreadyAdvertising))
            try await p.one.expectAdvertisers(.init(name: "Served", services: [.served]))
        },
        .peripheral("stopping takes effect at once, has no callback, and can be repeated", proving: "S121") { p in
            try await p.powerOn()
            try await p.advertise()
            p.manager.stopAdvertising()
            #expect(!p.manager.isAdvertising)
            p.manager.stopAdvertising()
            try await p.one.expectAdvertisers()
            try await p.advertise(name: "Again")
            try await p.one.expectAdvertisers(.init(name: "Again", services: [.served]))
        },
        .peripheral("only name and services are advertised", proving: "S118") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: "Served",
                CBAdvertisementDataServiceUUIDsKey: [CBUUID(.heartRate), CBUUID(.served)],
                CBAdvertisementDataManufacturerDataKey: Data([0xFF, 0xFF, 1]),
                CBAdvertisementDataServiceDataKey: [CBUUID(.heartRate): Data([1])],
                CBAdvertisementDataTxPowerLevelKey: 4,
            ])
            try await p.expect(.didStartAdvertising())
            try await p.one.expectAdvertisers(.init(name: "Served", services: [.heartRate, .served]))
        },
        .peripheral("empty data are advertised, too", proving: "S118") { p in
            try await p.powerOn()
            for data in [nil, [:]] as [[String: Any]?] {
                p.manager.startAdvertising(data)
                try await p.expect(.didStartAdvertising())
                try await p.one.expectAdvertisers(.init())
                p.manager.stopAdvertising()
            }
        },
        .peripheral("a name of another type than String is not advertised", proving: "S124") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: 7,
                CBAdvertisementDataServiceUUIDsKey: [CBUUID(.served)],
            ])
            try await p.expect(.didStartAdvertising())
            try await p.one.expectAdvertisers(.init(services: [.served]))
        },
        .peripheral("a name goes where it fits, or is shortened", proving: "S122") { p in
            try await p.powerOn()
            for (name, heard) in [
                ("Twelve chars", "Twelve chars"), ("Thirteen char", "Thirteen cha"), ("Ünï", "Ünï"),
            ] {
                try await p.advertise(name: name)
                try await p.one.expectAdvertisers(.init(name: heard, services: [.served]))
                p.manager.stopAdvertising()
            }
        },
        .peripheral("a full advertisement leaves ten bytes for the name", proving: "S122") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: "Ten bytes and more",
                CBAdvertisementDataServiceUUIDsKey: CBUUID.list(
                    .served, .deviceInformation, .heartRate, .bloodPressure, .alertNotification),
            ])
            try await p.expect(.didStartAdvertising())
            try await p.one.expectAdvertisers(
                .init(
                    name: "Ten bytes ",
                    services: [.deviceInformation, .heartRate, .bloodPressure, .alertNotification, .served]))
        },
        .peripheral(
            "services that do not fit go to the overflow area", proving: "S122",
            emulatorOnly: "only Apple's systems have an overflow area"
        ) { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: CBUUID.list(.served, .other, .heartRate)
            ])
            try await p.expect(.didStartAdvertising())
            try await p.one.expectAdvertisers(.init(services: [.heartRate, .served], overflow: [.other]))
        },
        .peripheral("advertising continues while a central is connected", proving: "S123") { p in
            _ = try await p.serve()
            #expect(p.manager.isAdvertising)
            try await p.two.expectAdvertisers(.init(name: "Served", services: [.served]))
            try await p.two.connect()
        },
        .peripheral("advertised services need not be published", proving: "S114") { p in
            try await p.powerOn()
            try await p.advertise(.unpublished)
            try await p.one.connect(to: .unpublished)
            try await p.one.discover()
        },
        .peripheral("two managers advertise side by side", proving: "S119", "S121") { p in
            let other = p.makeOther()
            try await p.powerOn()
            try await other.powerOn()
            try await p.advertise()
            try await other.advertise(.other, name: "Other")
            try await p.one.expectAdvertisers(
                .init(name: "Other", services: [.other]), .init(name: "Served", services: [.served]), within: 6000)
            p.manager.stopAdvertising()
            try await p.one.expectAdvertisers(.init(name: "Other", services: [.other]), within: 6000)
            other.finish()
        },
    ]
}
