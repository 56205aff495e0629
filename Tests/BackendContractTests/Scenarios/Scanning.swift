import CoreBluetooth
import Testing

extension ContractScenario {
    static let scanning: [ContractScenario] = [
        ContractScenario("S1: a new manager is unknown, then told its state", isGeneric: true) { c in
            #expect(c.stateAtFirst == .unknown)
            try await c.powerOn()
            #expect(c.trace.states.first == .poweredOn)
            #expect(c.manager.state == .poweredOn)
        },
        ContractScenario("S17 S24 S25: a scan without a filter reports what is advertised") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(withServices: nil)
            try await c.wait("a full sighting") { [trace = c.trace] in
                trace.sightings.contains { $0.fields["name"] == "Contract" && $0.fields["services"] != nil }
            }
            c.manager.stopScan()
            let seen = try #require(c.trace.sightings.last { $0.fields["name"] == "Contract" })
            #expect(seen.fields["services"] == "180F C0DE0001")
            #expect(seen.fields["manufacturer"] == "FFFF010203")
            #expect(seen.fields["serviceData"] == "180F=64")
            #expect(seen.fields["txPower"] == "4")
            #expect(seen.fields["connectable"] == "true")
            #expect((-127...20).contains(seen.rssi))
        },
        ContractScenario("S17: an empty filter is no filter") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(withServices: [])
            try await c.wait("a sighting") { [trace = c.trace] in
                trace.sightings.contains { $0.fields["name"] == "Contract" }
            }
            c.manager.stopScan()
        },
        ContractScenario("S18: a filter matches advertised services") { c in
            _ = try await c.find(services: ["C0DE0001"])
            #expect(c.trace.sightings.allSatisfy { $0.fields["services"]?.contains("C0DE0001") == true })
        },
        ContractScenario("S18: any UUID of a filter is enough") { c in
            _ = try await c.find(services: ["1801", "180F"])
        },
        ContractScenario("S18: services that are not advertised do not match") { c in
            try await c.powerOn()
            try await c.perform(.advertise(.second, true))
            c.manager.scanForPeripherals(
                withServices: ["C0DE0003", "C0DE0005"].map(CBUUID.init(contract:)))
            try await c.wait("the other peer") { [trace = c.trace] in
                trace.sightings.contains { $0.fields["name"] == "Second" }
            }
            c.manager.stopScan()
            #expect(!c.trace.sightings.contains { $0.fields["services"]?.contains("C0DE0001") == true })
        },
        ContractScenario("S20: scanning again reports known peers again") { c in
            let peripheral = try await c.find()
            c.trace.clearSightings()
            c.manager.scanForPeripherals(withServices: nil)
            let identifier = peripheral.identifier
            try await c.wait("the peer again") { [trace = c.trace] in
                trace.sightings.contains { $0.identifier == identifier }
            }
            c.manager.stopScan()
        },
        ContractScenario("S22: with duplicates a peer is reported again and again") { c in
            try await c.powerOn()
            c.manager.scanForPeripherals(
                withServices: [CBUUID(contract: "C0DE0001")],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            try await c.wait("five reports") { [trace = c.trace] in trace.sightings.count >= 5 }
            c.manager.stopScan()
        },
        ContractScenario("S23: isScanning follows the calls at once", isGeneric: true) { c in
            try await c.powerOn()
            #expect(!c.manager.isScanning)
            c.manager.scanForPeripherals(withServices: nil)
            #expect(c.manager.isScanning)
            c.manager.stopScan()
            #expect(!c.manager.isScanning)
            c.manager.stopScan()
            #expect(!c.manager.isScanning)
        },
        ContractScenario("S6: two managers keep scans of their own") { c in
            let other = c.makeOther()
            try await c.powerOn()
            try await other.powerOn()
            try await c.perform(.advertise(.second, true))
            c.manager.scanForPeripherals(withServices: [CBUUID(contract: "C0DE0001")])
            other.manager.scanForPeripherals(withServices: [CBUUID(contract: "C0DE0005")])
            try await c.wait("the first peer") { [trace = c.trace] in !trace.sightings.isEmpty }
            try await other.wait("the second peer") { [trace = other.trace] in !trace.sightings.isEmpty }
            #expect(c.trace.sightings.allSatisfy { $0.fields["services"]?.contains("C0DE0001") == true })
            #expect(other.trace.sightings.allSatisfy { $0.fields["services"]?.contains("C0DE0005") == true })
            c.manager.stopScan()
            #expect(other.manager.isScanning)
            other.manager.stopScan()
        },
        ContractScenario("S27: a connected peer that does not advertise is not reported") { c in
            let peripheral = try await c.connect()
            try await c.perform(.advertise(.contract, false))
            try await c.perform(.advertise(.second, true))
            c.trace.clearSightings()
            c.manager.scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            try await c.wait("two reports of the other peer") { [trace = c.trace] in
                trace.sightings.filter { $0.fields["name"] == "Second" }.count >= 2
            }
            c.manager.stopScan()
            let identifier = peripheral.identifier
            #expect(!c.trace.sightings.contains { $0.identifier == identifier })
        },
        ContractScenario("S26: a changed name is in the next report") { c in
            _ = try await c.find()
            try await c.perform(.advertise(.second, true))
            try await c.perform(.advertise(.second, true, name: "Renamed"))
            c.manager.scanForPeripherals(withServices: [CBUUID(contract: "C0DE0005")])
            try await c.wait("the new name") { [trace = c.trace] in
                trace.sightings.contains { $0.fields["name"] == "Renamed" }
            }
            c.manager.stopScan()
        },
    ]
}
