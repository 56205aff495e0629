import CoreBluetooth
import Testing

extension ContractScenario {
    /// Long enough to hear an advertisement, and its scan response: a radio may take two seconds for an interval.
    private static var aWhile: CentralAction { .listen(milliseconds: 3000) }

    /// Long enough for a radio that says one advertisement for two seconds, then the other one.
    private static var aLongWhile: CentralAction { .listen(milliseconds: 6000) }

    static let advertising: [ContractScenario] = [
        ContractScenario(peripheral: "S119: advertising is told when it has begun, and is heard") { p in
            try await p.powerOn()
            #expect(!p.manager.isAdvertising)
            try await p.advertise()
            #expect(p.manager.isAdvertising)
            #expect(try await p.one.perform(aWhile).lines == ["name=Served services=C0DE1000 connectable"])
        },
        ContractScenario(peripheral: "S120: beginning twice is an error, and the first data stay") { p in
            try await p.powerOn()
            try await p.advertise()
            p.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Other"])
            try await p.expect("didStartAdvertising true ! CBError 9")
            #expect(try await p.one.perform(aWhile).lines == ["name=Served services=C0DE1000 connectable"])
        },
        ContractScenario(peripheral: "S121: stopping is silent, at once, and can be repeated") { p in
            try await p.powerOn()
            try await p.advertise()
            p.manager.stopAdvertising()
            #expect(!p.manager.isAdvertising)
            p.manager.stopAdvertising()
            #expect(try await p.one.perform(aWhile).lines == [])
            try await p.advertise(name: "Again")
            #expect(try await p.one.perform(aWhile).lines == ["name=Again services=C0DE1000 connectable"])
        },
        ContractScenario(peripheral: "S118: only name and services are advertised") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: "Served",
                CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D"), CBUUID(contract: "C0DE1000")],
                CBAdvertisementDataManufacturerDataKey: Data([0xFF, 0xFF, 1]),
                CBAdvertisementDataServiceDataKey: [CBUUID(string: "180D"): Data([1])],
                CBAdvertisementDataTxPowerLevelKey: 4,
            ])
            try await p.expect("didStartAdvertising true")
            #expect(try await p.one.perform(aWhile).lines == ["name=Served services=180D C0DE1000 connectable"])
        },
        ContractScenario(peripheral: "S118: nothing to say is advertised, too") { p in
            try await p.powerOn()
            for data in [nil, [:]] as [[String: Any]?] {
                p.manager.startAdvertising(data)
                try await p.expect("didStartAdvertising true")
                #expect(try await p.one.perform(aWhile).lines == ["connectable"])
                p.manager.stopAdvertising()
            }
        },
        ContractScenario(peripheral: "S124: a name that is no text is not advertised") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: 7,
                CBAdvertisementDataServiceUUIDsKey: [CBUUID(contract: "C0DE1000")],
            ])
            try await p.expect("didStartAdvertising true")
            #expect(try await p.one.perform(aWhile).lines == ["services=C0DE1000 connectable"])
        },
        ContractScenario(peripheral: "S122: a name goes where it fits whole, or is shortened") { p in
            try await p.powerOn()
            for (name, heard) in [
                ("Twelve chars", "Twelve chars"), ("Thirteen char", "Thirteen cha"), ("Ünï", "Ünï"),
            ] {
                try await p.advertise(name: name)
                #expect(try await p.one.perform(aWhile).lines == ["name=\(heard) services=C0DE1000 connectable"])
                p.manager.stopAdvertising()
            }
        },
        ContractScenario(peripheral: "S122: beside a full advertisement ten bytes of the name are left") { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: "Ten bytes and more",
                CBAdvertisementDataServiceUUIDsKey: ["C0DE1000", "180A", "180D", "1810", "1811"]
                    .map(CBUUID.init(contract:)),
            ])
            try await p.expect("didStartAdvertising true")
            #expect(
                try await p.one.perform(aWhile).lines
                    == ["name=Ten bytes  services=180A 180D 1810 1811 C0DE1000 connectable"])
        },
        ContractScenario(
            peripheral: "S122: services that do not fit go to the overflow area",
            emulatorOnly: "only Apple's systems have an overflow area"
        ) { p in
            try await p.powerOn()
            p.manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: ["C0DE1000", "C0DE2000", "180D"].map(CBUUID.init(contract:))
            ])
            try await p.expect("didStartAdvertising true")
            #expect(
                try await p.one.perform(aWhile).lines == ["services=180D C0DE1000 overflow=C0DE2000 connectable"])
        },
        ContractScenario(peripheral: "S123: advertising goes on while a central is connected") { p in
            _ = try await p.serve()
            #expect(p.manager.isAdvertising)
            #expect(try await p.two.perform(aWhile).lines == ["name=Served services=C0DE1000 connectable"])
            try await p.two.perform(.connect(service: "C0DE1000"))
            try await p.two.expect("connected")
        },
        ContractScenario(peripheral: "S114: advertised services need not be published") { p in
            try await p.powerOn()
            try await p.advertise("C0DE3000")
            try await p.one.perform(.connect(service: "C0DE3000"))
            try await p.one.perform(.discover)
            try await p.one.expect("connected", "services ")
        },
        ContractScenario(peripheral: "S119 S121: two managers advertise side by side") { p in
            let other = p.makeOther()
            try await p.powerOn()
            try await other.powerOn()
            try await p.advertise()
            try await other.advertise("C0DE2000", name: "Other")
            #expect(
                try await p.one.perform(aLongWhile).lines == [
                    "name=Other services=C0DE2000 connectable", "name=Served services=C0DE1000 connectable",
                ])
            p.manager.stopAdvertising()
            #expect(try await p.one.perform(aLongWhile).lines == ["name=Other services=C0DE2000 connectable"])
            other.finish()
        },
    ]
}
