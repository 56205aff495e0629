import CoreBluetooth
import Testing

extension ContractScenario {
    static let discovering: [ContractScenario] = [
        .central("all services are discovered in handle order, without GAP and GATT", proving: "S56", "S58") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices(nil)
            try await c.expect(
                .didDiscoverServices([.battery, .main, .twin, .twin, .echoing]))
        },
        .central("an empty list discovers everything", proving: "S56") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([])
            try await c.expect(
                .didDiscoverServices([.battery, .main, .twin, .twin, .echoing]))
        },
        .central("a list restricts the discovery, and an empty result is no error", proving: "S56") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(.humanInterfaceDevice)])
            try await c.expect(.didDiscoverServices([]))
            #expect(peripheral.services?.isEmpty == true)
            peripheral.discoverServices([CBUUID(.echoing)])
            try await c.expect(.didDiscoverServices([.echoing]))
        },
        .central("services accumulate, and their objects stay the same", proving: "S57") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(.echoing)])
            try await c.expect(.didDiscoverServices([.echoing]))
            let first = try #require(peripheral.services?.first)
            peripheral.discoverServices([CBUUID(.battery), CBUUID(.echoing)])
            try await c.expect(.didDiscoverServices([.echoing, .battery]))
            #expect(peripheral.services?.first === first)
        },
        .central("all characteristics are discovered in handle order, equal UUIDs separately", proving: "S60", "S63") {
            c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let names: [ContractAttribute] = [
                .stored, .commands, .notifying, .indicating, .notifyingAndIndicating, .long, .failing, .writeOnly,
                .readOnly, .duplicate, .duplicate, .described,
            ]
            #expect(service.characteristics?.map(\.contract) == names)
            let properties: [CBCharacteristicProperties] = [
                [.read, .write], [.read, .writeWithoutResponse], .notify, .indicate,
                [.read, .notify, .indicate], [.read, .write], [.read, .write], .write, .read, .read, .read, .read,
            ]
            #expect(service.characteristics?.map(\.properties) == properties)
            peripheral.readValue(for: try service.characteristic(.duplicate, 0))
            peripheral.readValue(for: try service.characteristic(.duplicate, 1))
            try await c.expect(.didUpdateValue(.duplicate, [1]), .didUpdateValue(.duplicate, [2]))
        },
        .central("a list restricts the characteristics, and they accumulate", proving: "S60") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(.main)])
            try await c.expect(.didDiscoverServices([.main]))
            let service = try #require(peripheral.services?.first)
            peripheral.discoverCharacteristics([CBUUID(.indicating)], for: service)
            try await c.expect(.didDiscoverCharacteristics(.main, [.indicating]))
            let first = try service.characteristic(.indicating)
            peripheral.discoverCharacteristics(
                CBUUID.list(.notifying, .indicating), for: service)
            try await c.expect(.didDiscoverCharacteristics(.main, [.indicating, .notifying]))
            #expect(try service.characteristic(.indicating) === first)
        },
        .central("included services are discovered and can be used", proving: "S61") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(.main)])
            try await c.expect(.didDiscoverServices([.main]))
            let service = try #require(peripheral.services?.first)
            peripheral.discoverIncludedServices(nil, for: service)
            try await c.expect(.didDiscoverIncludedServices(.main, [.included]))
            let included = try #require(service.includedServices?.first)
            #expect(!included.isPrimary)
            peripheral.discoverCharacteristics(nil, for: included)
            try await c.expect(.didDiscoverCharacteristics(.included, [.includedValue]))
            peripheral.readValue(for: try included.characteristic(.includedValue))
            try await c.expect(.didUpdateValue(.includedValue, [7]))
        },
        .central("services of equal UUID are separate", proving: "S63") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices([CBUUID(.twin)])
            try await c.expect(.didDiscoverServices([.twin, .twin]))
            for service in peripheral.services ?? [] {
                peripheral.discoverCharacteristics(nil, for: service)
                try await c.expect(.didDiscoverCharacteristics(.twin, [.twinValue]))
            }
            for service in peripheral.services ?? [] {
                peripheral.readValue(for: try service.characteristic(.twinValue))
            }
            try await c.expect(.didUpdateValue(.twinValue, [1]), .didUpdateValue(.twinValue, [2]))
        },
        .central("descriptors are discovered, including the client configuration", proving: "S62") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.discoverDescriptors(for: try service.characteristic(.described))
            peripheral.discoverDescriptors(for: try service.characteristic(.notifying))
            peripheral.discoverDescriptors(for: try service.characteristic(.readOnly))
            try await c.expect(
                .didDiscoverDescriptors(.described, [.userDescription, .presentationFormat, .ownDescriptor]),
                .didDiscoverDescriptors(.notifying, [.clientConfiguration]),
                .didDiscoverDescriptors(.readOnly, []))
        },
        .central("concurrent calls are answered in order", proving: "S66") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.readValue(for: try service.characteristic(.readOnly))
            peripheral.discoverDescriptors(for: try service.characteristic(.notifying))
            peripheral.writeValue(Data([1]), for: try service.characteristic(.stored), type: .withResponse)
            peripheral.setNotifyValue(false, for: try service.characteristic(.notifying))
            peripheral.readValue(for: try service.characteristic(.stored))
            peripheral.discoverServices([CBUUID(.main)])
            try await c.expect(
                .didUpdateValue(.readOnly, [0x0A]), .didDiscoverDescriptors(.notifying, [.clientConfiguration]),
                .didWriteValue(.stored), .didUpdateNotificationState(.notifying, false), .didUpdateValue(.stored, [1]),
                .didDiscoverServices([.main]))
        },
    ]
}
