import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let main = ServiceID(contract: "C0DE0001")

    static let exploring = [
        AsyncScenario("services are listed, equal ones with a number") { c in
            let peripheral = try await c.find()
            let services = try await c.play { try await peripheral.services() }
            #expect(
                services
                    == ["180F", "C0DE0001", "C0DE0003", "C0DE0003#2", "C0DE0004"].map { ServiceID(contract: $0) })
        },
        AsyncScenario("included services are listed") { c in
            let peripheral = try await c.find()
            let included = try await c.play { try await peripheral.includedServices(of: main) }
            #expect(included == [ServiceID(contract: "C0DE0002")])
        },
        AsyncScenario("characteristics are listed with what can be done with them") { c in
            let peripheral = try await c.find()
            let all = try await c.play { try await peripheral.characteristics(of: main) }
            #expect(all.count == 12)
            #expect(all.first?.id == CharacteristicID(contract: "C0DE0001/C0DE0101"))
            #expect(all.first?.properties == [.read, .write])
            #expect(all.contains { $0.id == CharacteristicID(contract: "C0DE0001/C0DE010B#2") })
        },
        AsyncScenario("descriptors are listed") { c in
            let peripheral = try await c.find()
            let id = CharacteristicID(contract: "C0DE0001/C0DE010C")
            let all = try await c.play { try await peripheral.descriptors(of: id) }
            #expect(
                Set(all.map(\.uuid)) == [CBUUID(string: "2901"), CBUUID(string: "2904"), CBUUID(contract: "C0DE0D01")])
        },
        AsyncScenario("descriptors are read with their types, and written") { c in
            let peripheral = try await c.find()
            let own = DescriptorID(contract: "C0DE0001/C0DE010C/C0DE0D01")
            let values = try await c.play {
                let text = try await peripheral.read(
                    descriptor: DescriptorID(contract: "C0DE0001/C0DE010C/2901"))
                try await peripheral.write(Data([0xD1]), toDescriptor: own)
                return [text, try await peripheral.read(descriptor: own)]
            }
            #expect(values == [.text("described"), .data(Data([0xD1]))])
        },
        AsyncScenario("a service that is not there is an error that names it") { c in
            let peripheral = try await c.find()
            let error = try await c.failure { try await peripheral.read("180D/2A37") }
            guard case .missingServices([CBUUID(string: "180D")]) = error.reason else { throw error }
            #expect(error.path == "180D/2A37")
            #expect(error.peer == peripheral.identifier)
        },
        AsyncScenario("a characteristic that is not there is an error that names it") { c in
            let peripheral = try await c.find()
            let path = CharacteristicID(contract: "C0DE0001/C0DE0999")
            let error = try await c.failure { try await peripheral.write(Data(), to: path) }
            guard case .missingCharacteristics([path.uuid]) = error.reason else { throw error }
            #expect(error.operation == .write)
        },
    ]
}
