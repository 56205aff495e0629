import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Testing

@testable import EmulatedHCI

/// The client and the server of the Attribute Protocol with each other.
struct RandomDatabaseTests {
    private static func uuid(_ generator: inout SeededGenerator) -> BluetoothUUID {
        switch generator.below(4) {
        case 0: BluetoothUUID(value: UInt128(generator.next()) << 64 | UInt128(generator.next()))
        // Neither a declaration nor a descriptor.
        default: BluetoothUUID(UInt16(0xF000 + generator.below(0x0FFF)))
        }
    }

    /// Services with gaps between their handles, the last of which may be FFFF.
    private static func services(_ generator: inout SeededGenerator) -> [TappedService] {
        var next = UInt32(1 + generator.below(3))
        var services: [TappedService] = []
        func step(_ generator: inout SeededGenerator) -> UInt16 {
            defer { next += generator.happens(0.8) ? 1 : UInt32(1 + generator.below(40)) }
            return UInt16(next)
        }
        for _ in 0..<generator.below(8) {
            let first = step(&generator)
            let included = services.filter { _ in generator.happens(0.2) }.map {
                TappedService.Include(handle: step(&generator), handles: $0.handles, uuid: $0.uuid)
            }
            let characteristics = (0..<generator.below(5)).map { _ in
                TappedCharacteristic(
                    declarationHandle: step(&generator), valueHandle: step(&generator),
                    properties: CharacteristicProperties(rawValue: UInt16(generator.below(256))),
                    uuid: uuid(&generator),
                    descriptors: (0..<generator.below(4)).map { index in
                        TappedDescriptor(
                            handle: step(&generator),
                            uuid: index == 0 ? "2902" : generator.happens(0.5) ? "2901" : uuid(&generator))
                    })
            }
            let isLast = generator.happens(0.1)
            let end = isLast ? UInt16.max : UInt16(next) - 1 + UInt16(generator.below(3))
            services.append(
                TappedService(
                    handles: first...end, uuid: uuid(&generator), isPrimary: generator.happens(0.8),
                    included: included, characteristics: characteristics))
            if isLast { break }
            next = UInt32(end) + 1 + UInt32(generator.below(3))
        }
        return services
    }

    @Test(arguments: 0..<400) func theDiscoveredServicesAreTheServedOnes(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "database")
        let services = Self.services(&generator)
        var attributes = ServedAttributes(services, maximumMTU: Int(23 + generator.below(495)))
        var client = ScriptedServer(maximumMTU: Int(23 + generator.below(495)))
        let outcome = client.perform(.discover) { attributes.send($0).first }
        #expect(outcome == .discovered(services, deviceName: nil))
        #expect(client.client.mtu == attributes.server.mtu)
        #expect(attributes.requests == [])
    }

    @Test(arguments: 0..<100) func whatIsWrittenIsRead(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "values")
        var attributes = ServedAttributes(maximumMTU: Int(23 + generator.below(495)))
        var client = ScriptedServer(maximumMTU: 517)
        client.perform(.discover) { attributes.send($0).first }
        for _ in 0..<10 {
            let value = (0..<generator.below(513)).map { _ in UInt8(generator.below(256)) }
            #expect(client.perform(.write(handle: 0x19, value)) { attributes.send($0).first } == .written)
            #expect(attributes.values[0x19] == value)
            #expect(client.perform(.read(handle: 0x19)) { attributes.send($0).first } == .value(value))
        }
    }
}
