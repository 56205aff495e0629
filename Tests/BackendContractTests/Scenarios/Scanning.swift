import CoreBluetooth
import Testing

extension ContractScenario {
    static let scanning: [ContractScenario] = [
        .central("a new manager is unknown, then receives its state", proving: "S1", isGeneric: true) { c in
            #expect(c.stateAtFirst == .unknown)
            try await c.powerOn()
            #expect(c.trace.states.first == .poweredOn)
            #expect(c.manager.state == .poweredOn)
        },
        .central("a scan without a filter reports what is advertised", proving: "S17", "S24", "S25") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(withServices: nil)
            try await c.wait(forSighting: "a full sighting") { $0.advertisedName == "Contract" && $0.services != nil }
            c.manager.stopScan()
            let seen = try #require(c.trace.sightings.last { $0.advertisedName == "Contract" })
            #expect(seen.services == [.battery, .main])
            #expect(seen.manufacturerData == [0xFF, 0xFF, 1, 2, 3])
            #expect(seen.serviceData == [.battery: [0x64]])
            #expect(seen.txPower == 4)
            #expect(seen.isConnectable == true)
            #expect((-127...20).contains(seen.rssi))
        },
        .central("an empty filter is no filter", proving: "S17") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(withServices: [])
            try await c.wait(forSighting: "a sighting") { $0.advertisedName == "Contract" }
            c.manager.stopScan()
        },
        .central("a filter matches advertised services", proving: "S18") { c in
            _ = try await c.find(services: [.main])
            #expect(c.trace.sightings.allSatisfy { $0.services?.contains(.main) == true })
        },
        .central("any UUID of a filter is enough", proving: "S18") { c in
            _ = try await c.find(services: [.genericAttribute, .battery])
        },
        .central("services that are not advertised do not match", proving: "S18") { c in
            try await c.powerOn()
            try await c.perform(.advertise(.second, true))
            c.manager.scanForPeripherals(
                withServices: CBUUID.list(.twin, .second))
            try await c.wait(forSighting: "the other peer") { $0.advertisedName == "Second" }
            c.manager.stopScan()
            #expect(!c.trace.sightings.contains { $0.services?.contains(.main) == true })
        },
        .central("scanning again reports known peers again", proving: "S20") { c in
            let peripheral = try await c.find()
            c.trace.clearSightings()
            c.manager.scanForPeripherals(withServices: nil)
            let identifier = peripheral.identifier
            try await c.wait(forSighting: "the peer again") { $0.identifier == identifier }
            c.manager.stopScan()
        },
        .central("with duplicates a peer is reported repeatedly", proving: "S22") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(
                withServices: [CBUUID(.main)],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            try await c.wait("five reports") { [trace = c.trace] in trace.sightings.count >= 5 }
            c.manager.stopScan()
        },
        .central("isScanning changes with the calls", proving: "S23", isGeneric: true) { c in
            try await c.powerOn()
            #expect(!c.manager.isScanning)
            c.manager.scanForPeripherals(withServices: nil)
            #expect(c.manager.isScanning)
            c.manager.stopScan()
            #expect(!c.manager.isScanning)
            c.manager.stopScan()
            #expect(!c.manager.isScanning)
        },
        .central("two managers scan independently", proving: "S6") { c in
            let other = c.makeOther()
            try await c.powerOn()
            try await other.powerOn()
            try await c.perform(.advertise(.second, true))
            c.manager.scanForPeripherals(withServices: [CBUUID(.main)])
            other.manager.scanForPeripherals(withServices: [CBUUID(.second)])
            try await c.wait(forSighting: "the first peer") { _ in true }
            try await other.wait(forSighting: "the second peer") { _ in true }
            #expect(c.trace.sightings.allSatisfy { $0.services?.contains(.main) == true })
            #expect(other.trace.sightings.allSatisfy { $0.services?.contains(.second) == true })
            c.manager.stopScan()
            #expect(other.manager.isScanning)
            other.manager.stopScan()
        },
        .central("a connected peer that does not advertise is not reported", proving: "S27") { c in
            let peripheral = try await c.connect()
            try await c.perform(.advertise(.contract, false))
            try await c.perform(.advertise(.second, true))
            c.trace.clearSightings()
            c.manager.scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            try await c.wait("two reports of the other peer") { [trace = c.trace] in
                trace.sightings.filter { $0.advertisedName == "Second" }.count >= 2
            }
            c.manager.stopScan()
            let identifier = peripheral.identifier
            #expect(!c.trace.sightings.contains { $0.identifier == identifier })
        },
        .central("the next report contains a changed name", proving: "S26") { c in
            _ = try await c.find()
            try await c.perform(.advertise(.second, true))
            try await c.perform(.advertise(.second, true, name: "Renamed"))
            c.manager.scanForPeripherals(withServices: [CBUUID(.second)])
            try await c.wait(forSighting: "the new name") { $0.advertisedName == "Renamed" }
            c.manager.stopScan()
        },
    ]
}
