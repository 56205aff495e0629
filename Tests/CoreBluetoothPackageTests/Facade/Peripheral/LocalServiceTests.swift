import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothPackage

@Suite struct LocalServiceTests {
    @Test func aServiceReachesTheRadioAsItIs() async {
        let stage = await PeripheralStage.poweredOn()
        let included = CBMutableService(type: CBUUID(string: "FFF5"), primary: false)
        await stage.publish(included)
        let characteristic = PeripheralStage.dynamic(
            properties: [.read, .indicate, .indicateEncryptionRequired], permissions: [.readEncryptionRequired])
        let format = Data([4, 0, 0, 0x27, 1, 0, 0])
        characteristic.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: "2901"), value: "count"),
            CBMutableDescriptor(type: CBUUID(string: "2904"), value: format),
        ]
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "2A29"), properties: .read, value: Data([1]), permissions: .readable)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.includedServices = [included]
        service.characteristics = [characteristic, fixed]
        await stage.publish(service)
        let definition = stage.role.definitions[1]
        #expect(definition.isPrimary && !stage.role.definitions[0].isPrimary)
        #expect(definition.included == [stage.role.definitions[0].id])
        let parts = definition.characteristics
        #expect(parts.map(\.uuid) == ["FFF1", "2A29"])
        #expect(parts[0].properties == [.read, .indicate, .indicateEncryptionRequired])
        #expect(parts[0].permissions == .readEncryptionRequired)
        #expect(parts.map(\.staticValue) == [nil, Data([1])])
        #expect(parts[0].descriptors.map(\.uuid) == ["2901", "2904"])
        #expect(parts[0].descriptors.map(\.value) == [Data("count".utf8), format])
        let ids = [definition.id] + parts.flatMap { [$0.id] + $0.descriptors.map(\.id) }
        #expect(Set(ids).count == ids.count)
    }

    /// Proves S107.
    @Test func S107_whatIsPublishedIsFrozenExceptForADynamicValue() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        let dynamic = PeripheralStage.dynamic("FFF7")
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "FFF8"), properties: .read, value: Data([1]), permissions: .readable)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [dynamic, fixed]
        await stage.publish(service)
        dynamic.value = Data([7])
        #expect(dynamic.value == Data([7]))
        fixed.value = Data([2])
        dynamic.properties = .read
        dynamic.permissions = .readable
        dynamic.descriptors = []
        service.characteristics = nil
        service.includedServices = []
        #expect(fixed.value == Data([1]))
        #expect(dynamic.properties == [.read, .write, .writeWithoutResponse, .notify])
        #expect(dynamic.permissions == [.readable, .writeable])
        #expect(dynamic.descriptors == nil)
        #expect(service.characteristics?.count == 2)
        #expect(service.includedServices == nil)
        for (object, properties) in [
            (dynamic as CBAttribute, ["properties", "permissions", "descriptors"]), (fixed, ["value"]),
            (service, ["characteristics", "includedServices"]),
        ] {
            for property in properties {
                let text = "API MISUSE: \(object) is published: its \(property) can no longer be changed"
                #expect(LogCapture.lines(containing: text).count == 1)
            }
        }
    }

    /// Proves S107.
    @Test func S107_aRemovedServiceCanBeChangedAndAddedAgain() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        let service = await stage.publish(characteristic)
        await stage.subscribe()
        stage.manager.remove(service)
        characteristic.properties = [.read, .notify]
        stage.manager.add(service)
        characteristic.properties = []
        #expect(characteristic.properties == [.read, .notify])
        await stage.answer()
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        #expect(stage.recorder.lines.suffix(2) == ["subscribed FFF1 of 1", "added FFF0"])
        #expect(stage.role.definitions[1].characteristics[0].properties == [.read, .notify])
        characteristic.properties = []
        #expect(characteristic.properties == [.read, .notify])
    }

    /// Proves S111.
    @Test func S111_aServiceOfTheSystemIsRefusedWithALogLine() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "1801"), primary: true)
        stage.manager.add(service)
        await stage.role.settle()
        #expect(stage.recorder.lines.last == "added 1801 CBError 8")
        #expect(stage.recorder.added == [service])
        #expect(stage.role.commands.isEmpty)
        let text = "\(stage.manager) does not publish service 1801: the service is the system's own"
        #expect(LogCapture.lines(containing: text).count == 1)
        service.characteristics = []
        #expect(service.characteristics != nil)
    }

    /// Proves S113.
    @Test func S113_anIncludedServiceIsRemovedAfterItsIncluder() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        let inner = CBMutableService(type: CBUUID(string: "FFF5"), primary: false)
        await stage.publish(inner)
        let outer = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        outer.includedServices = [inner]
        await stage.publish(outer)
        stage.manager.remove(inner)
        let text = "\(stage.manager) cannot remove service FFF5 before service FFF0, which includes it"
        #expect(LogCapture.lines(containing: text).count == 1)
        let ids = stage.role.definitions.map(\.id)
        stage.manager.remove(outer)
        stage.manager.remove(inner)
        stage.manager.remove(inner)
        #expect(stage.role.commands.suffix(2) == [.removeService(ids[1]), .removeService(ids[0])])
    }

    /// Proves S114.
    @Test func S114_aPublishedServiceIsServedWithoutAnyAdvertisement() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        #expect(!stage.manager.isAdvertising)
        await stage.read(1)
        #expect(stage.recorder.reads.count == 1)
    }

    @Test func partsThatAreNotTheAppsOwnAreRefused() async {
        let stage = await PeripheralStage.poweredOn()
        let client = FacadeStage()
        let peripheral = await client.connect()
        let remote = await client.characteristic(of: peripheral)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [remote]
        stage.manager.add(service)
        await stage.role.settle()
        service.characteristics = nil
        service.includedServices = peripheral.services
        stage.manager.add(service)
        await stage.role.settle()
        #expect(stage.recorder.lines.suffix(2) == ["added FFF0 CBError 1", "added FFF0 CBError 1"])
        #expect(stage.role.commands.isEmpty)
    }

    /// The app may drop its references: the manager keeps what is published, and lets go of what is not.
    @Test func publishedServicesAreKeptAlive() async {
        let stage = await PeripheralStage.poweredOn()
        weak var service: CBMutableService?
        weak var characteristic: CBMutableCharacteristic?
        do {
            let made = PeripheralStage.dynamic()
            characteristic = made
            service = await stage.publish(made)
        }
        #expect(service != nil && characteristic != nil)
        await stage.read(1)
        #expect(stage.recorder.lines.last == "read FFF1 from 0")
        stage.manager.removeAllServices()
        await stage.role.settle()
        stage.recorder.forget()
        #expect(service == nil && characteristic == nil)
        #expect(stage.role.commands.last == .removeAllServices)
    }
}
