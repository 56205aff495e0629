import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct ErrorTests {
    /// Returns the error of an operation.
    private func error(
        _ fixture: Fixture, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> BluetoothError? {
        try await fixture.run {
            do {
                try await body()
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
    }

    @Test func aMissingServiceIsListedWithOperationPeerAndPath() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try #require(try await error(fixture) { _ = try await gadget.read("180D/2A37") })
        guard case .missingServices([CBUUID(string: "180D")]) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(error.operation == .read)
        #expect(error.peer == gadget.identifier)
        #expect(error.path == "180D/2A37")
        #expect("\(error)".contains("180D"))
    }

    @Test(arguments: ["FFF0/2A37", "FFF0/FFF3#3"] as [CharacteristicID])
    func aMissingCharacteristicIsListed(id: CharacteristicID) async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try #require(try await error(fixture) { try await gadget.write(Data(), to: id) })
        guard case .missingCharacteristics([id.uuid]) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(error.path == id.description)
    }

    @Test func aMissingDescriptorIsListed() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try #require(try await error(fixture) { _ = try await gadget.read(descriptor: "FFF0/FFF1/2904") })
        guard case .missingDescriptors([CBUUID(string: "2904")]) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func aValueThatIsTooLongNamesBothLengths() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let long = try #require(try await error(fixture) { try await gadget.write(Data(count: 513), to: "FFF0/FFF1") })
        guard case .valueTooLong(length: 513, maximum: 512) = long.reason else {
            Issue.record("\(long)")
            return
        }
        let maximum = try await fixture.run { try await gadget.maximumWriteLength(for: .withoutResponse) }
        let command = try #require(
            try await error(fixture) {
                try await gadget.writeWithoutResponse(Data(count: maximum + 1), to: "FFF0/FFF2")
            })
        guard case .valueTooLong(length: maximum + 1, maximum: maximum) = command.reason else {
            Issue.record("\(command)")
            return
        }
    }

    @Test func aDescriptorIsWrittenButNotTheOneOfSubscriptionsNorTooLong() async throws {
        let fixture = Fixture()
        var description = PeripheralDescription.gadget
        description.services[0].characteristics[0].descriptors.append(
            DescriptorDescription("FFD0", value: Data([1]), permissions: [.readable, .writeable]))
        let (_, gadget) = try await fixture.find(description)
        let value = try await fixture.run {
            try await gadget.write(Data([2, 3]), toDescriptor: "FFF0/FFF1/FFD0")
            return try await gadget.read(descriptor: "FFF0/FFF1/FFD0")
        }
        #expect(value == .data(Data([2, 3])))
        let refused = try #require(
            try await error(fixture) { try await gadget.write(Data([1, 0]), toDescriptor: "FFF0/FFF1/2902") })
        guard case .refused(let cause as CBATTError) = refused.reason, cause.code == .writeNotPermitted else {
            Issue.record("\(refused)")
            return
        }
        let long = try #require(
            try await error(fixture) { try await gadget.write(Data(count: 513), toDescriptor: "FFF0/FFF1/FFD0") })
        guard case .valueTooLong(length: 513, maximum: 512) = long.reason else {
            Issue.record("\(long)")
            return
        }
        #expect(long.path == "FFF0/FFF1/FFD0")
    }

    @Test func aCodeOfAnApplicationIsPrintedAsANumber() {
        let application = BluetoothError.Reason.refused(CBATTError(._other(0x85)))
        #expect("\(application)" == "refused: ATT error 0x85")
        let named = BluetoothError.Reason.refused(CBATTError(system: .insufficientResources))
        #expect("\(named)" == "refused: Resources are insufficient.")
    }

    @Test func aWriteWithoutResponseNeedsTheProperty() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try #require(
            try await error(fixture) { try await gadget.writeWithoutResponse(Data(), to: "FFF0/FFF1") })
        guard case .notSupported(.writeWithoutResponse) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func anErrorOfTheDeviceIsPassedOn() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = try #require(try await error(fixture) { _ = try await gadget.read("FFF0/FFF2") })
        guard case .refused(let cause as CBATTError) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(cause.code == .readNotPermitted)
    }

    @Test func whereTheAdapterIsOffAnOperationFailsAndAResetIsWaitedOut() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        fixture.emulator.host.setPower(false)
        try await fixture.emulator.advance(by: .seconds(1))
        let error = try #require(try await error(fixture) { _ = try await gadget.read("FFF0/FFF1") })
        guard case .unavailable(.poweredOff) = error.reason else {
            Issue.record("\(error)")
            return
        }
        fixture.emulator.host.setPower(true)
        try await fixture.emulator.advance(by: .seconds(1))
        fixture.emulator.host.reset(for: .seconds(3))
        try await fixture.emulator.advance(by: .seconds(1))
        let value = try await fixture.run { try await gadget.read("FFF0/FFF1") }
        #expect(value == Data([1]))
    }

    @Test func aLostLinkFailsWhatIsUnderWay() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        _ = try await fixture.run { try await gadget.read("FFF0/FFF1") }
        device.holdReads(of: "FFF1")
        let error = try #require(
            try await error(fixture) {
                async let value = gadget.read("FFF0/FFF1")
                try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
                device.disconnect()
                _ = try await value
            })
        guard case .disconnected(.some) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func disconnectFailsWhatIsUnderWayAsTheAppsOwnDoing() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.holdReads(of: "FFF1")
        let error = try #require(
            try await error(fixture) {
                async let value = gadget.read("FFF0/FFF1")
                try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
                await gadget.disconnect()
                _ = try await value
            })
        guard case .cancelled = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func anUnknownIdentifierIsAnError() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let error = try #require(try await error(fixture) { _ = try await central.peripheral(identifier: UUID()) })
        guard case .unknownPeripheral = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: ["", "18", "180D#0", "180D#x", "180D/2A37", "x80D"])
    func aTextThatNamesNoServiceIsNil(text: String) {
        #expect(ServiceID(text) == nil)
    }

    @Test(arguments: ["180D", "180D/", "/2A37", "180D/2A37/2901", "180D/2A3"])
    func aTextThatNamesNoCharacteristicIsNil(text: String) {
        #expect(CharacteristicID(text) == nil)
    }

    @Test(arguments: ["180D#2/2A37#3", "180D/2A37", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E/2A37"])
    func aPathIsReadAsItIsWritten(text: String) {
        #expect(CharacteristicID(text)?.description == text)
    }
}
