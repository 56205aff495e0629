import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@testable import AsyncBluetooth

@Suite(.emulator(.instant)) struct OperationTests {
    @Test func aReadConnectsAndDiscoversByItself() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        #expect(device.connectionCount == 0)
        let value = try await fixture.run { try await gadget.read("FFF0/FFF1") }
        #expect(value == Data([1]))
        #expect(gadget.state == .connected)
        #expect(device.connectionCount == 1)
    }

    @Test func eachThingIsDoneOnceHoweverManyAsk() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let values = try await fixture.run {
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<8 { group.addTask { try await gadget.read("FFF0/FFF1") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(values == Array(repeating: Data([1]), count: 8))
        let trace = fixture.emulator.trace.map(\.description)
        #expect(trace.filter { $0.contains("< ") && $0.contains(": connect ") }.count <= 1)
        #expect(fixture.count(of: "discoverServices") == 1, "\(trace.joined(separator: "\n"))")
        #expect(fixture.count(of: "discoverCharacteristics") == 1)
    }

    /// The operation's task continues only when the app has ended the link.
    @Test func anOperationThatWasAboutToUseACancelledLinkIsCancelled() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try await fixture.run { () -> OperationFailure? in
            let link = try await gadget.core.connectedLink()
            await gadget.disconnect()
            do {
                _ = try await gadget.core.perform(PeripheralCall(.rssi) { $0.readRSSI() }, on: link)
                return nil
            } catch let failure as OperationFailure {
                return failure
            }
        }
        guard case .cancelled? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aWriteArrivesAndIsReadBack() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let value = try await fixture.run {
            try await gadget.write(Data([7, 8]), to: "FFF0/FFF1")
            return try await gadget.read("FFF0/FFF1")
        }
        #expect(value == Data([7, 8]))
        #expect(device.value(of: "FFF1") == Data([7, 8]))
    }

    @Test func equalUUIDsAreDistinguished() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let values = try await fixture.run {
            [try await gadget.read("FFF0/FFF3"), try await gadget.read("FFF0/FFF3#2")]
        }
        #expect(values == [Data([3, 1]), Data([3, 2])])
    }

    @Test func theTreeIsListedWithNumbersForEqualUUIDs() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let (services, characteristics, descriptors) = try await fixture.run {
            (
                try await gadget.services(), try await gadget.characteristics(of: "FFF0"),
                try await gadget.descriptors(of: "FFF0/FFF1")
            )
        }
        #expect(services == ["FFF0"])
        #expect(characteristics.map(\.id) == ["FFF0/FFF1", "FFF0/FFF2", "FFF0/FFF3", "FFF0/FFF3#2"])
        #expect(characteristics.first?.properties == [.read, .write, .notify])
        #expect(descriptors.contains("FFF0/FFF1/2901"))
    }

    @Test func aDescriptorIsReadTyped() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let value = try await fixture.run { try await gadget.read(descriptor: "FFF0/FFF1/2901") }
        #expect(value == .text("first"))
    }

    @Test func theSignalStrengthIsInDBm() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.setRSSI(-61)
        let rssi = try await fixture.run { try await gadget.readRSSI() }
        #expect((-75 ... -45).contains(rssi))
    }

    @Test func disconnectEndsTheLinkAndTheNextOperationMakesAnother() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        try await fixture.run {
            try await gadget.connect()
            await gadget.disconnect()
        }
        #expect(gadget.state == .disconnected)
        #expect(device.connectionCount == 0)
        let value = try await fixture.run { try await gadget.read("FFF0/FFF1") }
        #expect(value == Data([1]))
        #expect(device.connectionCount == 1)
    }

    @Test func writesWithoutResponseAllArriveInOrderThoughThereIsLittleRoom() async throws {
        let fixture = Fixture()
        var description = PeripheralDescription.gadget
        description.services[0].characteristics[1].echo = true
        let (_, gadget) = try await fixture.find(description)
        let received = try await fixture.run {
            let echoes = try await gadget.subscribe(to: "FFF0/FFF2")
            for number in 0..<100 { try await gadget.writeWithoutResponse(Data([UInt8(number)]), to: "FFF0/FFF2") }
            var received: [UInt8] = []
            for try await echo in echoes {
                received += [UInt8](echo)
                if received.count == 100 { break }
            }
            return received
        }
        #expect(received == (0..<100).map { UInt8($0) })
    }

    @Test func aRequestReturnsTheNotificationThatAnswersIt() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let answers = try await fixture.run {
            try await withThrowingTaskGroup(of: (UInt8, Data).self) { group in
                for number in UInt8(1)...5 {
                    group.addTask {
                        (
                            number,
                            try await gadget.exchange(Data([number]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
                        )
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        #expect(answers == Dictionary(uniqueKeysWithValues: (UInt8(1)...5).map { ($0, Data([$0])) }))
        try await fixture.emulator.runUntilIdle()
        #expect(device.subscriberCount(of: "FFF1") == 0)
    }

    @Test func whatAnAppKeepsWithAPeripheralIsTyped() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        #expect(gadget[Nickname.self] == "")
        gadget[Nickname.self] = "Left shoe"
        #expect(gadget[Nickname.self] == "Left shoe")
    }
}

private enum Nickname: PeripheralContextKey {
    static let defaultValue = ""
}
