import CoreBluetooth
import Testing

extension ContractScenario {
    static let discovering: [ContractScenario] = [
        ContractScenario("S56 S58: all services, in handle order, without GAP and GATT") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices(nil)
            try await c.expect(
                #"didDiscoverServices ["180F", "C0DE0001", "C0DE0003", "C0DE0003", "C0DE0004"]"#)
        },
        ContractScenario("S56: an empty list discovers everything") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([])
            try await c.expect(
                #"didDiscoverServices ["180F", "C0DE0001", "C0DE0003", "C0DE0003", "C0DE0004"]"#)
        },
        ContractScenario("S56: a list restricts the discovery, and nothing found is no error") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(string: "1812")])
            try await c.expect("didDiscoverServices []")
            #expect(peripheral.services?.isEmpty == true)
            peripheral.discoverServices([CBUUID(contract: "C0DE0004")])
            try await c.expect(#"didDiscoverServices ["C0DE0004"]"#)
        },
        ContractScenario("S57: services accumulate and keep their objects") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(contract: "C0DE0004")])
            try await c.expect(#"didDiscoverServices ["C0DE0004"]"#)
            let first = try #require(peripheral.services?.first)
            peripheral.discoverServices([CBUUID(string: "180F"), CBUUID(contract: "C0DE0004")])
            try await c.expect(#"didDiscoverServices ["C0DE0004", "180F"]"#)
            #expect(peripheral.services?.first === first)
        },
        ContractScenario("S60 S63: all characteristics, in handle order, equal UUIDs apart") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            #expect(
                service.characteristics?.map(\.uuid.short) == [
                    "C0DE0101", "C0DE0102", "C0DE0103", "C0DE0104", "C0DE0105", "C0DE0106", "C0DE0107", "C0DE0109",
                    "C0DE010A", "C0DE010B", "C0DE010B", "C0DE010C",
                ])
            let properties = service.characteristics?.map(\.properties)
            #expect(
                properties == [
                    [.read, .write], [.read, .writeWithoutResponse], .notify, .indicate,
                    [.read, .notify, .indicate], [.read, .write], [.read, .write], .write, .read, .read, .read, .read,
                ])
            peripheral.readValue(for: try service.characteristic("C0DE010B", 0))
            peripheral.readValue(for: try service.characteristic("C0DE010B", 1))
            try await c.expect("didUpdateValue C0DE010B 01", "didUpdateValue C0DE010B 02")
        },
        ContractScenario("S60: a list restricts the characteristics, and they accumulate") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(contract: "C0DE0001")])
            try await c.expect(#"didDiscoverServices ["C0DE0001"]"#)
            let service = try #require(peripheral.services?.first)
            peripheral.discoverCharacteristics([CBUUID(contract: "C0DE0104")], for: service)
            try await c.expect(#"didDiscoverCharacteristics C0DE0001 ["C0DE0104"]"#)
            let first = try service.characteristic("C0DE0104")
            peripheral.discoverCharacteristics(
                ["C0DE0103", "C0DE0104"].map(CBUUID.init(contract:)), for: service)
            try await c.expect(#"didDiscoverCharacteristics C0DE0001 ["C0DE0104", "C0DE0103"]"#)
            #expect(try service.characteristic("C0DE0104") === first)
        },
        ContractScenario("S61: included services are found and can be used") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(contract: "C0DE0001")])
            try await c.expect(#"didDiscoverServices ["C0DE0001"]"#)
            let service = try #require(peripheral.services?.first)
            peripheral.discoverIncludedServices(nil, for: service)
            try await c.expect(#"didDiscoverIncludedServices C0DE0001 ["C0DE0002"]"#)
            let included = try #require(service.includedServices?.first)
            #expect(!included.isPrimary)
            peripheral.discoverCharacteristics(nil, for: included)
            try await c.expect(#"didDiscoverCharacteristics C0DE0002 ["C0DE0201"]"#)
            peripheral.readValue(for: try included.characteristic("C0DE0201"))
            try await c.expect("didUpdateValue C0DE0201 07")
        },
        ContractScenario("S63: services of equal UUID are separate") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(contract: "C0DE0003")])
            try await c.expect(#"didDiscoverServices ["C0DE0003", "C0DE0003"]"#)
            for service in peripheral.services ?? [] {
                peripheral.discoverCharacteristics(nil, for: service)
                try await c.expect(#"didDiscoverCharacteristics C0DE0003 ["C0DE0301"]"#)
            }
            for service in peripheral.services ?? [] {
                peripheral.readValue(for: try service.characteristic("C0DE0301"))
            }
            try await c.expect("didUpdateValue C0DE0301 01", "didUpdateValue C0DE0301 02")
        },
        ContractScenario("S62: descriptors are listed, the client configuration among them") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.discoverDescriptors(for: try service.characteristic("C0DE010C"))
            peripheral.discoverDescriptors(for: try service.characteristic("C0DE0103"))
            peripheral.discoverDescriptors(for: try service.characteristic("C0DE010A"))
            try await c.expect(
                #"didDiscoverDescriptors C0DE010C ["2901", "2904", "C0DE0D01"]"#,
                #"didDiscoverDescriptors C0DE0103 ["2902"]"#,
                "didDiscoverDescriptors C0DE010A []")
        },
        ContractScenario("S66: calls made at once are answered in order") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.readValue(for: try service.characteristic("C0DE010A"))
            peripheral.discoverDescriptors(for: try service.characteristic("C0DE0103"))
            peripheral.writeValue(Data([1]), for: try service.characteristic("C0DE0101"), type: .withResponse)
            peripheral.setNotifyValue(false, for: try service.characteristic("C0DE0103"))
            peripheral.readValue(for: try service.characteristic("C0DE0101"))
            peripheral.discoverServices([CBUUID(contract: "C0DE0001")])
            try await c.expect(
                "didUpdateValue C0DE010A 0A", #"didDiscoverDescriptors C0DE0103 ["2902"]"#,
                "didWriteValue C0DE0101", "didUpdateNotificationState C0DE0103 false", "didUpdateValue C0DE0101 01",
                #"didDiscoverServices ["C0DE0001"]"#)
        },
    ]
}
