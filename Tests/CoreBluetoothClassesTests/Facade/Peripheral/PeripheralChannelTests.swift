import BluetoothBackend
import BluetoothSupport
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// Channels and restoration of a peripheral manager, over a scripted backend.
@Suite struct PeripheralChannelTests {
    /// A delegate that records its calls and retains the channels.
    private final class ChannelRecorder: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
        // Invariant: used on the manager's queue, and by the test after that queue settled.
        var lines: [String] = []
        var channels: [CBL2CAPChannel] = []
        var dictionary: [String: Any] = [:]

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            lines.append("state \(peripheral.state)")
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
            lines.append("restore \(peripheral.state)")
            dictionary = dict
        }

        func peripheralManager(
            _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
        ) {
            lines.append("published \(PSM) \((error as? CBError)?.errorCode ?? 0)")
        }

        func peripheralManager(
            _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
        ) {
            lines.append("unpublished \(PSM) \((error as? CBError)?.errorCode ?? 0)")
        }

        func peripheralManager(
            _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
        ) {
            lines.append("opened \(channel?.psm ?? 0)")
            if let channel { channels.append(channel) }
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
            lines.append("read \(request.characteristic.uuid)")
        }
    }

    private let recorder = ChannelRecorder()
    private let backend = ScriptedBackend()
    private let psm: UInt16 = 193
    private let id = ChannelID(rawValue: 3)
    private let central = PeerID(UUID())

    /// Returns a manager that publishes a PSM.
    private func published() async throws -> (CBPeripheralManager, ScriptedPeripheral) {
        let (manager, role) = try manager()
        await role.play(.stateChanged(.poweredOn))
        manager.publishL2CAPChannel(withEncryption: true)
        let operation = try #require(role.lastOperation)
        #expect(role.commands.last == .publishChannel(operation: operation, isEncryptionRequired: true))
        await role.play(.channelPublished(operation: operation, psm: psm))
        return (manager, role)
    }

    private func manager(identifier: String? = nil) throws -> (CBPeripheralManager, ScriptedPeripheral) {
        let manager = CBPeripheralManager(
            backend: .custom(backend), delegate: recorder, queue: DispatchQueue(label: "peripheral channels"),
            options: identifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] })
        return (manager, try #require(backend.peripherals.last))
    }

    private var opened: PeripheralEvent {
        .channelOpened(channel: id, psm: psm, central: central, credits: 4)
    }

    // MARK: Channels

    @Test func S146_theSystemChoosesThePSM() async throws {
        let (manager, role) = try await published()
        #expect(recorder.lines.last == "published 193 0")
        manager.publishL2CAPChannel(withEncryption: false)
        await role.play(
            .operationFailed(
                operation: try #require(role.lastOperation),
                error: BackendError(.operationNotSupported, operation: "publish")))
        #expect(recorder.lines.last == "published 0 13")
    }

    @Test func S149_S150_didOpenCarriesTheCentralAndUnopenedStreams() async throws {
        let (manager, role) = try await published()
        await role.play(opened)
        let channel = try #require(recorder.channels.first)
        #expect(channel.peer is CBCentral)
        #expect(channel.peer.identifier == central.uuid)
        #expect(channel.psm == psm)
        #expect(channel.inputStream.streamStatus == .notOpen)
        withExtendedLifetime(manager) {}
    }

    @Test func bytesGoBothWaysForACentral() async throws {
        let (manager, role) = try await published()
        await role.play(opened)
        let channel = try #require(recorder.channels.first)
        channel.inputStream.open()
        channel.outputStream.open()
        role.send(.channel(id, .received(Data([1, 2]))))
        #expect(channel.inputStream.bytes(9) == Data([1, 2]))
        #expect(role.commands.last == .channel(id, .consumed(2)))
        #expect(channel.outputStream.write(Data([1, 2, 3, 4, 5])) == 4)
        #expect(role.commands.last == .channel(id, .send(Data([1, 2, 3, 4]))))
        role.send(.channel(id, .credits(9)))
        #expect(channel.outputStream.hasSpaceAvailable)
        withExtendedLifetime(manager) {}
    }

    @Test func S151_releaseByThePeripheralCloses() async throws {
        let (manager, role) = try await published()
        await role.play(opened)
        recorder.channels = []
        #expect(role.commands.last == .channel(id, .close))
        withExtendedLifetime(manager) {}
    }

    @Test func S153_aCentralThatLeavesEndsTheStreams() async throws {
        let (manager, role) = try await published()
        await role.play(opened, .channel(id, .received(Data([1]))), .channel(id, .closed))
        let channel = try #require(recorder.channels.first)
        let lines = recorder.lines
        channel.inputStream.open()
        #expect(channel.inputStream.bytes(9) == Data([1]))
        #expect(channel.inputStream.bytes(9) == Data())
        #expect(recorder.lines == lines)
        withExtendedLifetime(manager) {}
    }

    @Test func S154_unpublishingClosesTheChannelsOfThePSM() async throws {
        let (manager, role) = try await published()
        await role.play(opened, .channel(id, .received(Data([1]))))
        let channel = try #require(recorder.channels.first)
        channel.inputStream.open()
        manager.unpublishL2CAPChannel(psm)
        let operation = try #require(role.lastOperation)
        #expect(role.commands.contains(.unpublishChannel(operation: operation, psm: psm)))
        #expect(role.commands.last == .channel(id, .close))
        #expect(channel.inputStream.bytes(9) == Data([1]))
        #expect(channel.inputStream.bytes(9) == Data())
        await role.play(.channelUnpublished(operation: operation, psm: psm))
        #expect(recorder.lines.last == "unpublished 193 0")
    }

    @Test func S154_aChannelThatCrossesTheUnpublishingIsClosed() async throws {
        let (manager, role) = try await published()
        manager.unpublishL2CAPChannel(psm)
        await role.play(opened)
        #expect(!recorder.lines.contains("opened 193"))
        #expect(role.commands.last == .channel(id, .close))
        #expect(manager.core.channels[id] == nil)
    }

    @Test func S104_S153_channelsEndWithThePower() async throws {
        let (manager, role) = try await published()
        await role.play(opened)
        let channel = try #require(recorder.channels.first)
        channel.inputStream.open()
        role.send(.stateChanged(.poweredOff))
        #expect(channel.inputStream.bytes(1) == Data())
        await role.settle()
        withExtendedLifetime(manager) {}
    }

    // MARK: Restoration

    private let value = AttributeID(rawValue: 12)

    private var state: RestoredPeripheralState {
        let inner = ServiceDefinition(id: AttributeID(rawValue: 5), uuid: "FFE0", isPrimary: false)
        let level = ServiceDefinition.Characteristic(
            id: value, uuid: "FFF1", properties: [.read, .notify], permissions: .readable,
            descriptors: [
                .init(id: AttributeID(rawValue: 13), uuid: "2901", value: Data("Level".utf8)),
                .init(id: AttributeID(rawValue: 14), uuid: "2904", value: Data([4, 0])),
            ])
        let fixed = ServiceDefinition.Characteristic(
            id: AttributeID(rawValue: 15), uuid: "FFF2", properties: .read, permissions: .readable,
            staticValue: Data([9]))
        let outer = ServiceDefinition(
            id: AttributeID(rawValue: 11), uuid: "FFF0", included: [inner.id], characteristics: [level, fixed])
        return RestoredPeripheralState(
            services: [inner, outer], subscriptions: [.init(central: central, attribute: value, mtu: 100)],
            advertisement: Advertisement(localName: "Sensor", serviceUUIDs: ["FFF0"], overflowServiceUUIDs: ["FFE0"]))
    }

    @Test func S141_S143_theDictionaryHasWhatWasPublished() async throws {
        let (manager, role) = try manager(identifier: "app")
        await role.play(.restored(state), .stateChanged(.poweredOn))
        #expect(recorder.lines == ["restore unknown", "state poweredOn"])
        let services = try #require(
            recorder.dictionary[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService])
        #expect(services.map(\.uuid.uuidString) == ["FFE0", "FFF0"])
        #expect(services.map(\.isPrimary) == [false, true])
        #expect(services[1].includedServices?.first === services[0])
        let characteristics = try #require(services[1].characteristics as? [CBMutableCharacteristic])
        #expect(characteristics.map(\.value) == [nil, Data([9])])
        #expect(characteristics.map(\.properties) == [[.read, .notify], .read])
        #expect(characteristics[0].descriptors?.map { "\($0.value ?? "")" }.first == "Level")
        #expect(characteristics[0].descriptors?.last?.value as? Data == Data([4, 0]))
        #expect(characteristics[0].subscribedCentrals?.map(\.identifier) == [central.uuid])
        #expect(characteristics[0].subscribedCentrals?.first?.maximumUpdateValueLength == 97)
        let data = try #require(
            recorder.dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any])
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Sensor")
        #expect(
            data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFF0"), CBUUID(string: "FFE0")])
        withExtendedLifetime(manager) {}
    }

    @Test func S143_restoredServicesAreServedAndUpdated() async throws {
        let (manager, role) = try manager(identifier: "app")
        await role.play(.restored(state), .stateChanged(.poweredOn))
        let services = recorder.dictionary[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
        let level = try #require(services?.last?.characteristics?.first as? CBMutableCharacteristic)
        await role.play(
            .readRequested(
                request: RequestID(rawValue: 1), central: central, attribute: value, offset: 0, mtu: 23))
        #expect(recorder.lines.last == "read \(CBUUID(string: "FFF1"))")
        #expect(!manager.updateValue(Data([1]), for: level, onSubscribedCentrals: nil))
        await role.play(.notifyCredits(central: central, count: 1))
        #expect(manager.updateValue(Data([1]), for: level, onSubscribedCentrals: nil))
        #expect(
            role.commands.last == .updateValue(attribute: value, value: Data([1]), centrals: [central]))
        let service = CBMutableService(type: CBUUID(string: "FFD0"), primary: true)
        manager.add(service)
        let newest = try #require(role.definitions.last)
        #expect(newest.id > AttributeID(rawValue: 15))
    }

    @Test func S143_theAdvertisementGoesOnWhenThereIsPower() async throws {
        let (manager, role) = try manager(identifier: "app")
        await role.play(.restored(state), .stateChanged(.poweredOn))
        let operation = try #require(role.lastOperation)
        #expect(
            role.commands.contains(
                .startAdvertising(operation: operation, advertisement: try #require(state.advertisement))))
        #expect(manager.isAdvertising)
        await role.play(.advertisingStarted(operation: operation))
        #expect(manager.isAdvertising)
        #expect(recorder.lines == ["restore unknown", "state poweredOn"])
    }

    @Test func S143_withoutPowerTheSubscribersAreGone() async throws {
        let (manager, role) = try manager(identifier: "app")
        await role.play(.restored(state), .stateChanged(.poweredOff))
        let services = recorder.dictionary[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
        let level = try #require(services?.last?.characteristics?.first as? CBMutableCharacteristic)
        #expect(level.subscribedCentrals == [])
        #expect(role.commands.isEmpty)
        withExtendedLifetime(manager) {}
    }

    @Test func S144_S145_withoutAnIdentifierNothingIsRestored() async throws {
        LogCapture.start()
        let (manager, role) = try manager()
        await role.play(.restored(state), .stateChanged(.poweredOn))
        #expect(recorder.lines == ["state poweredOn"])
        #expect(LogCapture.lines(containing: "\(manager) has no restore identifier").count == 1)
    }
}
