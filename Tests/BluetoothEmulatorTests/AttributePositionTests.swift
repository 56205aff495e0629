import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Attributes by their position, for UUIDs that are not unique.
@Suite struct AttributePositionTests {
    private static func service(_ values: UInt8..., includes: [ServicePath] = []) -> ServiceDescription {
        ServiceDescription(
            "FFF0", includes: includes,
            characteristics: values.map { value in
                CharacteristicDescription(
                    "FFF1", [.read, .notify], value: Data([value]),
                    descriptors: [.init("2901", value: Data([value, 1])), .init("2901", value: Data([value, 2]))])
            })
    }

    private static let twins = PeripheralDescription(
        name: "Twins", advertising: [AdvertisingDescription(AdvertisingData(localName: "Twins"))],
        services: [service(10, 11), service(20), service(30, includes: [ServicePath("FFF0", index: 1)])])

    @Test func everyPlaceNamesOneAttribute() throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(Self.twins)
        func value(_ service: Int, _ characteristic: Int, _ descriptor: Int? = nil) -> [UInt8]? {
            device.value(
                at: AttributePosition(service: service, characteristic: characteristic, descriptor: descriptor)
            ).map { [UInt8]($0) }
        }
        #expect(value(0, 0) == [10] && value(0, 1) == [11] && value(1, 0) == [20] && value(2, 0) == [30])
        #expect(value(0, 1, 0) == [11, 1] && value(0, 1, 1) == [11, 2])
        #expect(value(0, 2) == nil && value(3, 0) == nil && value(-1, 0) == nil && value(0, 0, 2) == nil)
        for service in 0..<3 {
            let position = AttributePosition(service: service)
            #expect(device.attribute(at: position).flatMap(device.position(of:)) == position)
            let inner = AttributePosition(service: service, characteristic: 0, descriptor: 1)
            #expect(device.attribute(at: inner).flatMap(device.position(of:)) == inner)
        }
        #expect(device.attribute(at: AttributePosition(service: 0, descriptor: 0)) == nil)
        // 1800 is the first attribute of a device.
        #expect(device.position(of: AttributeID(rawValue: 1)) == nil)
    }

    @Test func aDescriptorIsChangedByItsTypeAndReadByACentral() async throws {
        let scene = try await DeviceFixture(Self.twins)
        let path = CharacteristicPath("FFF1", service: "FFF0", index: 1)
        let first = AttributePosition(service: 0, characteristic: 1, descriptor: 0)
        #expect(scene.device.value(ofDescriptor: "2901", of: path) == Data([11, 1]))
        #expect(scene.device.value(ofDescriptor: "2904", of: path) == nil)
        #expect(scene.device.value(ofDescriptor: "2902", of: path) == nil)
        #expect(scene.device.value(ofDescriptor: "2901", of: "FFF9") == nil)
        scene.device.setValue(Data([7]), ofDescriptor: "2901", of: path)
        scene.device.setValue(Data([8]), ofDescriptor: "2902", of: path)
        try await scene.emulator.runUntilIdle()
        #expect(scene.device.value(at: first) == Data([7]))
        let id = try #require(scene.device.attribute(at: first))
        let events = try await scene.fixture.run(.request(link: scene.link, operation: op(1), .read(id)))
        #expect(events == [.response(link: scene.link, operation: op(1), .value(Data([7])))])
        let lines = scene.emulator.trace.map(\.text)
        #expect(lines.contains { $0.contains("setValue") && $0.contains("descriptor=2901") }, "\(lines)")
        #expect(lines.contains { $0.contains("FFF1/2902") }, "\(lines)")
        #expect(
            scene.emulator.presentWorld.devices.first?.services.first?.characteristics[1].descriptors[0].value
                == Data([7]))
    }

    @Test func controlsReachTheOneOfSeveralEqualCharacteristics() async throws {
        let scene = try await DeviceFixture(Self.twins)
        let second = AttributePosition(service: 0, characteristic: 1)
        let attribute = try scene.found.characteristic("FFF1", 1)
        #expect(scene.device.attribute(at: second) == attribute)
        _ = try await scene.fixture.run(
            .request(link: scene.link, operation: op(1), .setNotifying(attribute, true)))
        #expect(scene.device.subscriberCount(at: second) == 1)
        #expect(scene.device.subscriberCount(at: AttributePosition(service: 0, characteristic: 0)) == 0)
        scene.device.notify(at: second, value: Data([99]))
        scene.device.setValue(Data([98]), at: AttributePosition(service: 1, characteristic: 0))
        try await scene.emulator.runUntilIdle()
        #expect(
            scene.fixture.events.last == .valueNotified(link: scene.link, attribute: attribute, value: Data([99])))
        #expect(try await scene.read("FFF1", 2) == .value(Data([98])))
        scene.device.notify(at: AttributePosition(service: 9, characteristic: 0), value: Data())
        try await scene.emulator.runUntilIdle()
        #expect(scene.emulator.trace.contains { $0.text.contains("no characteristic at 9.0") })
    }

    @Test func theNumberOfARemovedServiceIsNotUsedAgain() async throws {
        let scene = try await DeviceFixture(Self.twins)
        let second = try scene.found.service("FFF0", 1)
        scene.device.removeService(number: 1)
        try await scene.emulator.runUntilIdle()
        #expect(scene.fixture.events.last == .servicesChanged(link: scene.link, removed: [second], added: []))
        try scene.device.addService(Self.service(40))
        try await scene.emulator.runUntilIdle()
        #expect(scene.device.value(at: AttributePosition(service: 1, characteristic: 0)) == nil)
        #expect(scene.device.value(at: AttributePosition(service: 2, characteristic: 0)) == Data([30]))
        #expect(scene.device.value(at: AttributePosition(service: 3, characteristic: 0)) == Data([40]))
        scene.device.removeService(number: 1)
        try await scene.emulator.runUntilIdle()
        #expect(scene.emulator.trace.contains { $0.text.contains("has no such service") })
    }

    @Test func aServiceIncludesTheOneOfSeveralEqualServices() async throws {
        let scene = try await DeviceFixture(Self.twins)
        let (second, third) = (try scene.found.service("FFF0", 1), try scene.found.service("FFF0", 2))
        let events = try await scene.fixture.run(
            .request(link: scene.link, operation: op(1), .discoverIncludedServices(of: third, nil)))
        guard case .response(_, _, .services(let services))? = events.first else { throw Unexpected("\(events)") }
        #expect(services.map(\.id) == [second])
        #expect(scene.emulator.presentWorld.devices.first?.services[2].includes == [ServicePath("FFF0", index: 1)])
    }

    @Test func aWorldFileNamesTheIncludedServiceByItsNumber() throws {
        let json = """
            {"devices": [{"name": "A", "services": [
                {"uuid": "FFF0"}, {"uuid": "FFF0"}, {"uuid": "FFF2", "includes": ["FFF0", "FFF0#1"]}]}]}
            """
        let world = try WorldDescription(json: Data(json.utf8))
        #expect(world.devices[0].services[2].includes == ["FFF0", ServicePath("FFF0", index: 1)])
        #expect(try WorldDescription(json: JSONEncoder().encode(world)) == world)
        for wrong in ["FFF0#0", "FFF0#x", "#1", "FFF0#2"] {
            #expect(throws: DescriptionError.self, "\(wrong)") {
                let world = try WorldDescription(json: Data(json.replacingOccurrences(of: "FFF0#1", with: wrong).utf8))
                _ = try Emulator(world: world, time: .virtual)
            }
        }
    }

    /// A handler that answers reads with the position that was read, and notifies it.
    private struct Placing: EmulatedPeripheralHandler {
        func respond(
            to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
        ) -> PeripheralResponse {
            guard let position = request.position else { return .stored }
            device.notify(at: position, value: Data([1]))
            device.setValue(Data([2]), at: AttributePosition(service: 2, characteristic: 0))
            return .value(Data("\(position)".utf8))
        }
    }

    @Test func aRequestSaysWhichOneOfSeveralItIsAbout() async throws {
        let scene = try await DeviceFixture(EmulatedPeripheral(Self.twins, handler: Placing()))
        #expect(try await scene.read("FFF1", 1) == .value(Data("0.1".utf8)))
        #expect(try await scene.read("FFF1", 2) == .value(Data("1.0".utf8)))
        #expect(scene.device.value(at: AttributePosition(service: 2, characteristic: 0)) == Data([2]))
        #expect(scene.device.value(at: AttributePosition(service: 1, characteristic: 0)) == Data([1]))
    }
}
