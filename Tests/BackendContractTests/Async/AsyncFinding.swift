import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    static let finding = [
        AsyncScenario("a scan reports typed advertisements") { c in
            let found = try await c.run { [central = c.central] in
                try await AsyncContext.discovered(.contract, by: central)
            }
            #expect(Set(found.advertisement.serviceUUIDs) == [CBUUID(.main), CBUUID(.battery)])
            #expect(found.advertisement.manufacturerData == Data([0xFF, 0xFF, 1, 2, 3]))
            #expect(found.advertisement.serviceData[CBUUID(.battery)] == Data([0x64]))
            #expect(found.rssi.map { (-127...20).contains($0) } == true)
        },
        AsyncScenario("a scan for a service finds the devices that offer it") { c in
            try await c.perform(.advertise(.second, true))
            let found = try await c.run { [central = c.central] in
                try await AsyncContext.discovered(.second, by: central, services: [CBUUID(.second)])
            }
            #expect(found.advertisement.serviceUUIDs == [CBUUID(.second)])
        },
        AsyncScenario("two concurrent scans are merged, and each receives its own devices") { c in
            try await c.perform(.advertise(.second, true))
            let names = try await c.run { [central = c.central] in
                async let one = AsyncContext.discovered(.contract, by: central, services: [CBUUID(.battery)])
                async let other = AsyncContext.discovered(
                    .second, by: central, services: [CBUUID(.second)])
                return [try await one, try await other].map(\.advertisement.localName)
            }
            #expect(names == ["Contract", "Second"])
        },
        AsyncScenario("a second scan follows the first") { c in
            let first = try await c.find()
            let second = try await c.find()
            #expect(first === second)
        },
        AsyncScenario("a central waits until the adapter is powered on") { c in
            let states = try await c.run { [central = c.central] in
                try await central.waitUntilPoweredOn()
                return try await central.states.first(1)
            }
            #expect(states == [.poweredOn])
        },
        AsyncScenario("a device is retrieved by its identifier") { c in
            let found = try await c.find()
            let known = try await c.run { [central = c.central] in
                try await central.peripheral(identifier: found.identifier)
            }
            #expect(known === found)
        },
    ]
}
