import CoreBluetooth
import Testing

extension ContractScenario {
    static let notifying: [ContractScenario] = [
        ContractScenario("S87 S91: a subscription delivers each value, equal ones too") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let notify = try service.characteristic("C0DE0103")
            #expect(!notify.isNotifying)
            peripheral.setNotifyValue(true, for: notify)
            try await c.expect("didUpdateNotificationState C0DE0103 true")
            for byte in [1, 1, 2] as [UInt8] { try await c.perform(.notify("C0DE0103", Data([byte]))) }
            try await c.expect(
                "didUpdateValue C0DE0103 01", "didUpdateValue C0DE0103 01", "didUpdateValue C0DE0103 02")
        },
        ContractScenario("S91: indications arrive and are confirmed") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0104"))
            try await c.expect("didUpdateNotificationState C0DE0104 true")
            for byte in UInt8(1)...2 { try await c.perform(.notify("C0DE0104", Data([byte]))) }
            try await c.expect("didUpdateValue C0DE0104 01", "didUpdateValue C0DE0104 02")
        },
        ContractScenario("S88: notifications are taken where both are offered") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let both = try service.characteristic("C0DE0105")
            peripheral.setNotifyValue(true, for: both)
            try await c.expect("didUpdateNotificationState C0DE0105 true")
            try await c.perform(.notify("C0DE0105", Data([7])))
            try await c.expect("didUpdateValue C0DE0105 07")
            peripheral.discoverDescriptors(for: both)
            try await c.expect(#"didDiscoverDescriptors C0DE0105 ["2902"]"#)
            peripheral.readValue(for: try #require(both.descriptors?.first))
            try await c.expect("didUpdateValue descriptor 2902 number 1")
        },
        ContractScenario("S87: unsubscribing ends the values") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let notify = try service.characteristic("C0DE0103")
            peripheral.setNotifyValue(true, for: notify)
            try await c.expect("didUpdateNotificationState C0DE0103 true")
            peripheral.setNotifyValue(false, for: notify)
            try await c.expect("didUpdateNotificationState C0DE0103 false")
            try await c.perform(.notify("C0DE0103", Data([1])))
            try await c.fence(peripheral, service.characteristic("C0DE010A"))
        },
        ContractScenario("S89: neither notify nor indicate is refused") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE010A"))
            try await c.expect("didUpdateNotificationState C0DE010A false ! CBATTError 6")
        },
        ContractScenario("S90: asking for the state in force is answered") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let notify = try service.characteristic("C0DE0103")
            peripheral.setNotifyValue(false, for: notify)
            try await c.expect("didUpdateNotificationState C0DE0103 false")
            peripheral.setNotifyValue(true, for: notify)
            peripheral.setNotifyValue(true, for: notify)
            try await c.expect(
                "didUpdateNotificationState C0DE0103 true", "didUpdateNotificationState C0DE0103 true")
        },
        ContractScenario("S92: subscribing does not deliver the current value") { c in
            let (peripheral, service) = try await c.connect(discovering: "180F")
            let level = try service.characteristic("2A19")
            peripheral.setNotifyValue(true, for: level)
            try await c.expect("didUpdateNotificationState 2A19 true")
            try await c.fence(peripheral, level)
        },
        ContractScenario("S93: subscriptions end with the connection") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0103"))
            try await c.expect("didUpdateNotificationState C0DE0103 true")
            try await c.perform(.disconnect)
            try await c.expect("didDisconnect disconnected ! CBError 7")
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            let again = try await c.discover("C0DE0001", of: peripheral)
            let notify = try again.characteristic("C0DE0103")
            #expect(!notify.isNotifying)
            try await c.perform(.notify("C0DE0103", Data([1])))
            try await c.fence(peripheral, again.characteristic("C0DE010A"))
            peripheral.setNotifyValue(true, for: notify)
            try await c.expect("didUpdateNotificationState C0DE0103 true")
            try await c.perform(.notify("C0DE0103", Data([2])))
            try await c.expect("didUpdateValue C0DE0103 02")
        },
        ContractScenario("S68: a read and a notification of one characteristic both arrive") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let both = try service.characteristic("C0DE0105")
            peripheral.setNotifyValue(true, for: both)
            try await c.expect("didUpdateNotificationState C0DE0105 true")
            peripheral.readValue(for: both)
            try await c.expect("didUpdateValue C0DE0105 05")
            try await c.perform(.notify("C0DE0105", Data([6])))
            try await c.expect("didUpdateValue C0DE0105 06")
            peripheral.readValue(for: both)
            try await c.skip("didUpdateValue C0DE0105")
        },
        ContractScenario("S94: one of two managers may unsubscribe") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let other = c.makeOther()
            try await other.powerOn()
            let shared = try #require(
                other.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
            shared.delegate = other.trace
            other.manager.connect(shared)
            try await other.expect("didConnect connected")
            let otherService = try await other.discover("C0DE0001", of: shared)
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0103"))
            try await c.expect("didUpdateNotificationState C0DE0103 true")
            shared.setNotifyValue(true, for: try otherService.characteristic("C0DE0103"))
            try await other.expect("didUpdateNotificationState C0DE0103 true")
            try await c.perform(.notify("C0DE0103", Data([1])))
            try await c.expect("didUpdateValue C0DE0103 01")
            try await other.expect("didUpdateValue C0DE0103 01")
            peripheral.setNotifyValue(false, for: try service.characteristic("C0DE0103"))
            try await c.expect("didUpdateNotificationState C0DE0103 false")
            try await c.perform(.notify("C0DE0103", Data([2])))
            try await other.expect("didUpdateValue C0DE0103 02")
            try await c.fence(peripheral, service.characteristic("C0DE010A"))
            other.finish()
        },
        ContractScenario("S68: what is written to an echo comes back") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0004")
            let echo = try service.characteristic("C0DE0401")
            peripheral.setNotifyValue(true, for: echo)
            try await c.expect("didUpdateNotificationState C0DE0401 true")
            peripheral.writeValue(Data([1, 2]), for: echo, type: .withoutResponse)
            try await c.expect("didUpdateValue C0DE0401 0102")
        },
    ]

    static let describing: [ContractScenario] = [
        ContractScenario("S95: descriptor values have the type of their UUID") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let described = try service.characteristic("C0DE010C")
            peripheral.discoverDescriptors(for: described)
            try await c.skip("didDiscoverDescriptors")
            for descriptor in described.descriptors ?? [] { peripheral.readValue(for: descriptor) }
            try await c.expect(
                #"didUpdateValue descriptor 2901 "described""#, "didUpdateValue descriptor 2904 04000027010000",
                "didUpdateValue descriptor C0DE0D01 0D")
        },
        ContractScenario("S96: a descriptor is written and read back") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let described = try service.characteristic("C0DE010C")
            peripheral.discoverDescriptors(for: described)
            try await c.skip("didDiscoverDescriptors")
            let own = try #require(described.descriptors?.last)
            peripheral.writeValue(Data([0x0E, 0x0F]), for: own)
            try await c.expect("didWriteValue descriptor C0DE0D01")
            peripheral.readValue(for: own)
            try await c.expect("didUpdateValue descriptor C0DE0D01 0E0F")
        },
    ]

    static let changing: [ContractScenario] = [
        ContractScenario("S101: a new service is told, and found by another discovery") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices(nil)
            try await c.skip("didDiscoverServices")
            let count = peripheral.services?.count ?? 0
            try await c.perform(.addService)
            try await c.expect("didModifyServices []")
            peripheral.discoverServices([CBUUID(contract: "C0DE0009")])
            try await c.skip("didDiscoverServices")
            #expect(peripheral.services?.count == count + 1)
            let added = try #require(peripheral.services?.last)
            peripheral.discoverCharacteristics(nil, for: added)
            try await c.expect(#"didDiscoverCharacteristics C0DE0009 ["C0DE0901"]"#)
            peripheral.readValue(for: try added.characteristic("C0DE0901"))
            try await c.expect("didUpdateValue C0DE0901 09")
        },
        ContractScenario("S101 S102: a vanished service is told, the others stay usable") { c in
            try await c.perform(.addService)
            let (peripheral, service) = try await c.connect(discovering: "180F")
            _ = try await c.discover("C0DE0009", of: peripheral)
            try await c.perform(.removeService)
            try await c.expect(#"didModifyServices ["C0DE0009"]"#)
            #expect(peripheral.services?.map(\.uuid.short) == ["180F"])
            try await c.fence(peripheral, service.characteristic("2A19"))
        },
        ContractScenario("S98: the signal strength of a link can be read") { c in
            let peripheral = try await c.connect()
            peripheral.readRSSI()
            try await c.expect("didReadRSSI dBm")
        },
        ContractScenario("S148: a channel that cannot be had is an error, not silence") { c in
            let peripheral = try await c.connect()
            peripheral.openL2CAPChannel(0x81)
            try await c.expect("didOpen nil ! CBError 13")
        },
    ]
}
