import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// The rules that a service breaks or keeps whatever else is published.
@Suite struct LocalServiceRuleTests {
    typealias Fixture = PeripheralMachineFixture

    @Test func S108_aStaticValueMustBeReadOnly() {
        func exception(
            _ value: Data?, _ properties: CharacteristicProperties, _ permissions: AttributePermissions
        ) -> String? {
            Fixture.service(characteristics: [
                Fixture.characteristic(properties: properties, permissions: permissions, value: value)
            ]).exception
        }
        let text = "Characteristics with cached values must be read-only"
        #expect(exception(Data([1]), [.read, .notify], .readable) == text)
        #expect(exception(Data([1]), [.read, .write], .readable) == text)
        #expect(exception(Data([1]), .read, [.readable, .writeable]) == text)
        #expect(exception(Data([1]), .read, [.readable, .writeEncryptionRequired]) == text)
        #expect(exception(Data([1]), .write, .readable) == text)
        #expect(exception(Data(), [.read, .write], [.readable, .writeable]) == text)
        #expect(exception(Data([1]), .read, .readable) == nil)
        #expect(exception(Data([1]), .read, .readEncryptionRequired) == nil)
        #expect(exception(nil, [.read, .write], [.readable, .writeable]) == nil)
    }

    @Test func S115_onlyDescriptionAndFormatMayBePublishedWithTheirTypes() {
        func service(_ uuid: BluetoothUUID, _ value: LocalService.DescriptorValue) -> LocalService {
            Fixture.service(characteristics: [
                Fixture.characteristic(descriptors: [LocalService.Descriptor(uuid: uuid, value: value)])
            ])
        }
        #expect(service("2904", .text("a")).exception == "Expecting NSData value type for Format descriptor")
        #expect(service("2904", .other).exception == "Expecting NSData value type for Format descriptor")
        #expect(
            service("2901", .bytes(Data())).exception
                == "Expecting NSString value type for User Description descriptor")
        #expect(service("2901", .text("é")).exception == nil)
        for uuid: BluetoothUUID in ["2900", "2902", "2903", "FFF9"] {
            #expect(service(uuid, .bytes(Data([1]))).exception == nil)
            #expect(service(uuid, .bytes(Data([1]))).refusal?.code == .uuidNotAllowed)
        }
        var fixture = Fixture.poweredOn()
        let text = fixture.machine.add(service("2901", .text("é"))).definition?.characteristics[0].descriptors[0]
        #expect(text?.value == Data([0xC3, 0xA9]))
        _ = fixture.machine.removeAllServices()
        let format = fixture.machine.add(service("2904", .bytes(Data([4])))).definition?.characteristics[0].descriptors[
            0]
        #expect(format?.value == Data([4]))
    }

    @Test(arguments: [.broadcast, .extendedProperties] as [CharacteristicProperties])
    func S116_somePropertiesAreNotForLocalCharacteristics(property: CharacteristicProperties) {
        let service = Fixture.service(characteristics: [Fixture.characteristic(properties: [.read, property])])
        #expect(service.refusal?.code == .invalidParameters)
    }

    @Test func S117_encryptedSubscriptionsReachTheBackendWithTheirBaseProperty() {
        var fixture = Fixture.poweredOn()
        let definition = fixture.machine.add(
            Fixture.service(characteristics: [
                Fixture.characteristic(1, properties: .notifyEncryptionRequired),
                Fixture.characteristic(2, properties: .indicateEncryptionRequired),
            ])
        ).definition
        #expect(
            definition?.characteristics.map(\.properties) == [
                [.notify, .notifyEncryptionRequired], [.indicate, .indicateEncryptionRequired],
            ])
    }

    @Test func aStaticValueHasAtMost512Bytes() {
        func refusal(_ count: Int) -> ServiceRefusal? {
            Fixture.service(characteristics: [
                Fixture.characteristic(properties: .read, permissions: .readable, value: Data(count: count))
            ]).refusal
        }
        #expect(refusal(512) == nil)
        #expect(refusal(513)?.code == .invalidParameters)
    }
}
