import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

#if os(Linux)
import CoreBluetoothClasses
#endif

/// The functions that tools need to list and operate any device.
@Suite(.emulator(.instant)) struct ExploringTests {
    /// The gadget with a secondary service, which its first service includes.
    private static var nested: PeripheralDescription {
        var description = PeripheralDescription.gadget
        let value = CharacteristicDescription("FFE1", .read, value: Data([9]))
        description.services.insert(ServiceDescription("FFE0", isPrimary: false, characteristics: [value]), at: 0)
        description.services[1].includes = ["FFE0"]
        return description
    }

    @Test func aSecondaryServiceIsUsedOnceItIsFound() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(Self.nested)
        let value = try await fixture.run {
            let listed = try await gadget.services()
            let included = try await gadget.includedServices(of: "FFF0")
            #expect(listed == ["FFF0"] && included == ["FFE0"])
            let isPrimary = [try await gadget.isPrimary("FFF0"), try await gadget.isPrimary("FFE0")]
            #expect(isPrimary == [true, false])
            return try await gadget.read("FFE0/FFE1")
        }
        #expect(value == Data([9]))
    }

    @Test func valuesOfSeveralCharacteristicsComeInTheOrderOfTheirArrival() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let received = try await fixture.run {
            let values = try await gadget.subscribe(to: ["FFF0/FFF1", "FFF0/FFF2"])
            for number in UInt8(1)...4 {
                device.notify(number % 2 == 0 ? "FFF1" : "FFF2", value: Data([number]))
                try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            }
            var received: [NotifiedValue] = []
            for try await value in values {
                received.append(value)
                if received.count == 4 { break }
            }
            return received
        }
        #expect(received.map(\.value) == (1...4).map { Data([$0]) })
        #expect(received.map(\.characteristic) == ["FFF0/FFF2", "FFF0/FFF1", "FFF0/FFF2", "FFF0/FFF1"])
        try await fixture.emulator.runUntilIdle()
        #expect(device.subscriberCount(of: "FFF1") == 0 && device.subscriberCount(of: "FFF2") == 0)
    }

    @Test func unsubscribingEndsTheSequencesAndWaitsForTheDevice() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let (counts, values) = try await fixture.run {
            let kept = try await gadget.subscribe(to: "FFF0/FFF1")
            device.notify("FFF1", value: Data([1]))
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            var counts = [device.subscriberCount(of: "FFF1")]
            try await gadget.unsubscribe(from: "FFF0/FFF1")
            counts.append(device.subscriberCount(of: "FFF1"))
            // The release of the values ends the subscription, and `unsubscribe` awaits that end.
            do { _ = try await gadget.subscribe(to: "FFF0/FFF1") }
            try await gadget.unsubscribe(from: "FFF0/FFF1")
            counts.append(device.subscriberCount(of: "FFF1"))
            try await gadget.unsubscribe(from: "FFF0/FFF2")
            var values: [Data] = []
            for try await value in kept { values.append(value) }
            return (counts, values)
        }
        #expect(counts == [1, 0, 0])
        #expect(values == [Data([1])])
    }

    @Test func theEndOfTheLinkIsAwaitedWithItsReason() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let ends = try await fixture.run {
            var ends = [try await gadget.waitUntilDisconnected()]
            try await gadget.connect()
            async let ended = gadget.waitUntilDisconnected()
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            device.disconnect()
            ends.append(try await ended)
            try await gadget.connect()
            async let left = gadget.waitUntilDisconnected()
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            await gadget.disconnect()
            ends.append(try await left)
            return ends
        }
        guard case .disconnected(nil) = ends[0].reason, case .disconnected(.some) = ends[1].reason,
            case .cancelled = ends[2].reason
        else {
            Issue.record("\(ends)")
            return
        }
        #expect(ends[1].peer == gadget.identifier)
        let link = "the link to Gadget (\(gadget.identifier.uuidString))"
        #expect(
            ends.map(\.description) == [
                "\(link) ended", "\(link) ended: The specified device has disconnected from us.",
                "\(link) was ended by the app",
            ])
    }

    @Test func devicesThatTheSystemKnowsAreFoundByTheirIdentifiers() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.gadget)
        let central = fixture.makeCentral()
        let (gadget, known) = try await fixture.run {
            let gadget = try await Fixture.first(central)
            return (gadget, try await central.peripherals(identifiers: [UUID(), gadget.identifier]))
        }
        #expect(known == [gadget] && device.name == gadget.name)
    }

    #if os(Linux)
    @Test func handlesTheMTUAndTheBackendAreForListings() async throws {
        let fixture = Fixture()
        _ = try fixture.emulator.add(Self.nested)
        let central = fixture.makeCentral()
        #expect(central.backendName == "emulator")
        let handles = try await fixture.run {
            let gadget = try await Fixture.first(central)
            #expect(gadget.mtuLength == 23)
            _ = try await gadget.includedServices(of: "FFF0")
            let handles = [
                try await gadget.handle(of: "FFE0" as ServiceID), try await gadget.handle(of: "FFF0" as ServiceID),
                try await gadget.handle(of: "FFF0/FFF1" as CharacteristicID),
                try await gadget.handle(of: "FFF0/FFF1/2901" as DescriptorID),
            ]
            #expect(gadget.mtuLength > 23)
            return handles.compactMap { $0 }
        }
        #expect(handles.count == 4 && handles == handles.sorted() && Set(handles).count == 4)
    }

    @Test func anAgentPairsWithADeviceAndForgetsTheBond() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let agent = CBPairingAgent(
            backend: .emulator(fixture.emulator), capability: .noInputNoOutput, delegate: nil,
            queue: DispatchQueue(label: "pairing"))
        try await fixture.run {
            try await agent.pair(gadget)
            #expect(fixture.emulator.host.isBonded(with: device))
            try await agent.unpair(gadget)
        }
        #expect(!fixture.emulator.host.isBonded(with: device))
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.run { try await agent.unpair(gadget) }
        }
        guard case .refused(let reason)? = error?.reason, (reason as? CBError)?.code == .unknownDevice else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.operation == .unpair && error?.peer == gadget.identifier)
    }
    #endif
}
