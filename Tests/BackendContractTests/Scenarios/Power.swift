import CoreBluetooth
import Testing

extension ContractScenario {
    static let power: [ContractScenario] = [
        .central("a power-off ends scans and links, and only the state is reported", proving: "S11", "S12") { c in
            let peripheral = try await c.connect()
            c.manager.scanForPeripherals(withServices: nil)
            try await c.switchOff()
            #expect(!c.manager.isScanning)
            #expect(peripheral.state == .disconnected)
            try await c.switchOn()
        },
        .central("a peripheral survives a power cycle, a pending attempt does not", proving: "S13", "S14") { c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            try await c.switchOff()
            #expect(peripheral.state == .disconnected)
            try await c.switchOn()
            try await c.perform(.advertise(.contract, true))
            #expect(peripheral.state == .disconnected)
            try await c.connect(peripheral)
        },
        .central("below poweredOn commands are ignored and nothing is retrieved", proving: "S9", "S10") { c in
            let peripheral = try await c.find()
            try await c.switchOff()
            c.manager.scanForPeripherals(withServices: nil)
            #expect(!c.manager.isScanning)
            c.manager.connect(peripheral)
            #expect(peripheral.state == .disconnected)
            #expect(c.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).isEmpty)
            try await c.switchOn()
        },
        .central("after a restart of the service its objects are new", proving: "S7", "S15") { c in
            let peripheral = try await c.connect()
            try await c.perform(.daemon(isRunning: false))
            try await c.wait("resetting") { [trace = c.trace] in trace.states.contains(.resetting) }
            #expect(peripheral.state == .disconnected)
            try await c.perform(.daemon(isRunning: true))
            try await c.powerOn()
            c.manager.connect(peripheral)
            #expect(peripheral.state == .disconnected, "a stale object only logs")
            c.trace.clearSightings()
            let again = try await c.find()
            #expect(again !== peripheral)
            #expect(again.identifier == peripheral.identifier)
            try await c.connect(again)
        },
    ]
}
