import CoreBluetooth
import Testing

extension ContractScenario {
    static let power: [ContractScenario] = [
        ContractScenario("S11 S12: power-off ends scan and links with the state alone") { c in
            let peripheral = try await c.connect()
            c.manager.scanForPeripherals(withServices: nil)
            try await c.perform(.adapter(isPowered: false))
            try await c.wait("poweredOff") { [trace = c.trace] in trace.states.last == .poweredOff }
            #expect(!c.manager.isScanning)
            #expect(peripheral.state == .disconnected)
            try await c.perform(.adapter(isPowered: true))
            try await c.powerOn()
        },
        ContractScenario("S13 S14: a peripheral survives a power cycle, a pending attempt does not") { c in
            let peripheral = try await c.find()
            try await c.perform(.advertise(.contract, false))
            c.manager.connect(peripheral)
            try await c.perform(.adapter(isPowered: false))
            try await c.wait("poweredOff") { [trace = c.trace] in trace.states.last == .poweredOff }
            #expect(peripheral.state == .disconnected)
            try await c.perform(.adapter(isPowered: true))
            try await c.powerOn()
            try await c.perform(.advertise(.contract, true))
            #expect(peripheral.state == .disconnected)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
        },
        ContractScenario("S9 S10: below poweredOn commands are ignored and nothing is retrieved") { c in
            let peripheral = try await c.find()
            try await c.perform(.adapter(isPowered: false))
            try await c.wait("poweredOff") { [trace = c.trace] in trace.states.last == .poweredOff }
            c.manager.scanForPeripherals(withServices: nil)
            #expect(!c.manager.isScanning)
            c.manager.connect(peripheral)
            #expect(peripheral.state == .disconnected)
            #expect(c.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).isEmpty)
            try await c.perform(.adapter(isPowered: true))
            try await c.powerOn()
        },
        ContractScenario("S7 S15: the service comes back after a restart, with new objects") { c in
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
            c.manager.connect(again)
            try await c.expect("didConnect connected")
        },
    ]
}
