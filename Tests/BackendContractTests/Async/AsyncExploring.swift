import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let main = ServiceID(.main)

    static let exploring = [
        AsyncScenario("services are listed, equal UUIDs with a number") { c in
            let peripheral = try await c.find()
            let services = try await c.run { try await peripheral.services() }
            #expect(
                services
                    == [
                        ServiceID(.battery), ServiceID(.main), ServiceID(.twin), ServiceID(.twin, instance: 2),
                        ServiceID(.echoing),
                    ])
        },
        AsyncScenario("included services are listed") { c in
            let peripheral = try await c.find()
            let included = try await c.run { try await peripheral.includedServices(of: main) }
            #expect(included == [ServiceID(.included)])
        },
        AsyncScenario("characteristics are listed with their properties") { c in
            let peripheral = try await c.find()
            let all = try await c.run { try await peripheral.characteristics(of: main) }
            #expect(all.count == 12)
            #expect(all.first?.id == CharacteristicID(.main, .stored))
            #expect(all.first?.properties == [.read, .write])
            #expect(all.contains { $0.id == CharacteristicID(.main, .duplicate, instance: 2) })
        },
        AsyncScenario("descriptors are listed") { c in
            let peripheral = try await c.find()
            let id = CharacteristicID(.main, .described)
            let all = try await c.run { try await peripheral.descriptors(of: id) }
            #expect(
                Set(all.map(\.uuid)) == [CBUUID(.userDescription), CBUUID(.presentationFormat), CBUUID(.ownDescriptor)])
        },
        AsyncScenario("descriptors are read with their types, and written") { c in
            let peripheral = try await c.find()
            let own = DescriptorID(.main, .described, .ownDescriptor)
            let values = try await c.run {
                let text = try await peripheral.read(
                    descriptor: DescriptorID(.main, .described, .userDescription))
                try await peripheral.write(Data([0xD1]), toDescriptor: own)
                return [text, try await peripheral.read(descriptor: own)]
            }
            #expect(values == [.text("described"), .data(Data([0xD1]))])
        },
        AsyncScenario("a missing service is an error that names it") { c in
            let peripheral = try await c.find()
            let error = try await c.failure { try await peripheral.read("180D/2A37") }
            guard case .missingServices([CBUUID(.heartRate)]) = error.reason else { throw error }
            #expect(error.path == "180D/2A37")
            #expect(error.peer == peripheral.identifier)
        },
        AsyncScenario("a missing characteristic is an error that names it") { c in
            let peripheral = try await c.find()
            let path = CharacteristicID(.main, .unpublished)
            let error = try await c.failure { try await peripheral.write(Data(), to: path) }
            guard case .missingCharacteristics([path.uuid]) = error.reason else { throw error }
            #expect(error.operation == .write)
        },
    ]
}
