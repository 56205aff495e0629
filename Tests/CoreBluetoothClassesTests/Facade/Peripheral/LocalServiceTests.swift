import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

@Suite struct LocalServiceTests {
    @Test func aServiceReachesTheBackendAsItIs() async {
        let fixture = await PeripheralFixture.poweredOn()
        let included = CBMutableService(type: CBUUID(string: "FFF5"), primary: false)
        await fixture.publish(included)
        let characteristic = PeripheralFixture.dynamic(
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
        await fixture.publish(service)
        let definition = fixture.role.definitions[1]
        #expect(definition.isPrimary && !fixture.role.definitions[0].isPrimary)
        #expect(definition.included == [fixture.role.definitions[0].id])
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

    @Test func S107_whatIsPublishedIsFrozenExceptForADynamicValue() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        let dynamic = PeripheralFixture.dynamic("FFF7")
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "FFF8"), properties: .read, value: Data([1]), permissions: .readable)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [dynamic, fixed]
        await fixture.publish(service)
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

    @Test func S107_aRemovedServiceCanBeChangedAndAddedAgain() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        let service = await fixture.publish(characteristic)
        await fixture.subscribe()
        fixture.manager.remove(service)
        characteristic.properties = [.read, .notify]
        fixture.manager.add(service)
        characteristic.properties = []
        #expect(characteristic.properties == [.read, .notify])
        await fixture.answer()
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        #expect(fixture.recorder.lines.suffix(2) == ["subscribed FFF1 of 1", "added FFF0"])
        #expect(fixture.role.definitions[1].characteristics[0].properties == [.read, .notify])
        characteristic.properties = []
        #expect(characteristic.properties == [.read, .notify])
    }

    @Test func S111_aServiceOfTheSystemIsRefusedWithALogLine() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "1801"), primary: true)
        fixture.manager.add(service)
        await fixture.role.settle()
        #expect(fixture.recorder.lines.last == "added 1801 CBError 8")
        #expect(fixture.recorder.added == [service])
        #expect(fixture.role.commands.isEmpty)
        let text = "\(fixture.manager) does not publish service 1801: the service is the system's own"
        #expect(LogCapture.lines(containing: text).count == 1)
        service.characteristics = []
        #expect(service.characteristics != nil)
    }

    @Test func S113_anIncludedServiceIsRemovedAfterItsIncluder() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        let inner = CBMutableService(type: CBUUID(string: "FFF5"), primary: false)
        await fixture.publish(inner)
        let outer = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        outer.includedServices = [inner]
        await fixture.publish(outer)
        fixture.manager.remove(inner)
        let text = "\(fixture.manager) cannot remove service FFF5 before service FFF0, which includes it"
        #expect(LogCapture.lines(containing: text).count == 1)
        let ids = fixture.role.definitions.map(\.id)
        fixture.manager.remove(outer)
        fixture.manager.remove(inner)
        fixture.manager.remove(inner)
        #expect(fixture.role.commands.suffix(2) == [.removeService(ids[1]), .removeService(ids[0])])
    }

    @Test func S114_aPublishedServiceIsServedWithoutAnyAdvertisement() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        #expect(!fixture.manager.isAdvertising)
        await fixture.read(1)
        #expect(fixture.recorder.reads.count == 1)
    }

    @Test func partsThatAreNotTheAppsOwnAreRefused() async {
        let fixture = await PeripheralFixture.poweredOn()
        let client = FacadeFixture()
        let peripheral = await client.connect()
        let remote = await client.characteristic(of: peripheral)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [remote]
        fixture.manager.add(service)
        await fixture.role.settle()
        service.characteristics = nil
        service.includedServices = peripheral.services
        fixture.manager.add(service)
        await fixture.role.settle()
        #expect(fixture.recorder.lines.suffix(2) == ["added FFF0 CBError 1", "added FFF0 CBError 1"])
        #expect(fixture.role.commands.isEmpty)
    }

    /// The app may drop its references: the manager retains published services, and releases all others.
    @Test func publishedServicesAreKeptAlive() async {
        let fixture = await PeripheralFixture.poweredOn()
        weak var service: CBMutableService?
        weak var characteristic: CBMutableCharacteristic?
        do {
            let new = PeripheralFixture.dynamic()
            characteristic = new
            service = await fixture.publish(new)
        }
        #expect(service != nil && characteristic != nil)
        await fixture.read(1)
        #expect(fixture.recorder.lines.last == "read FFF1 from 0")
        fixture.manager.removeAllServices()
        await fixture.role.settle()
        fixture.recorder.forget()
        #expect(service == nil && characteristic == nil)
        #expect(fixture.role.commands.last == .removeAllServices)
    }
}
