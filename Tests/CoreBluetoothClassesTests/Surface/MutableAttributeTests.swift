import Testing

@testable import CoreBluetoothClasses

@Suite struct MutableAttributeTests {
    @Test func S33_aServiceIsTheWeakParentOfItsCharacteristics() {
        let kept = TestObjects.characteristic()
        let dropped = TestObjects.characteristic("2A38")
        #expect(kept.service == nil)
        var service: CBMutableService? = TestObjects.service()
        service?.characteristics = [kept, dropped]
        #expect(kept.service === service)
        service?.characteristics = [kept]
        #expect(kept.service === service)
        #expect(dropped.service == nil)
        #expect(service?.peripheral == nil)
        service = nil
        #expect(kept.service == nil)
    }

    @Test func S33_aCharacteristicIsTheWeakParentOfItsDescriptors() {
        let descriptor = TestObjects.descriptor()
        var characteristic: CBMutableCharacteristic? = TestObjects.characteristic()
        characteristic?.descriptors = [descriptor]
        #expect(descriptor.characteristic === characteristic)
        characteristic?.descriptors = nil
        #expect(descriptor.characteristic == nil)
        characteristic?.descriptors = [descriptor]
        characteristic = nil
        #expect(descriptor.characteristic == nil)
    }

    @Test func aCharacteristicThatMovedKeepsItsNewService() {
        let characteristic = TestObjects.characteristic()
        let first = TestObjects.service()
        let second = TestObjects.service()
        first.characteristics = [characteristic]
        second.characteristics = [characteristic]
        first.characteristics = nil
        #expect(characteristic.service === second)
    }

    @Test func attributesShowWhatTheyWereMadeWith() {
        let service = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        #expect(service.uuid == CBUUID(string: "180F"))
        #expect(!service.isPrimary)
        #expect(service.characteristics == nil)
        #expect(service.includedServices == nil)
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A19"), properties: [.read, .notify], value: Data([100]),
            permissions: [.readable, .readEncryptionRequired])
        #expect(characteristic.properties == [.read, .notify])
        #expect(characteristic.value == Data([100]))
        #expect(characteristic.permissions.rawValue == 0x05)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        #expect(!characteristic.isNotifying)
        #expect(TestObjects.descriptor().value as? String == "a description")
    }

    @Test func attributesAreChangedThroughTheirBaseClass() {
        let included = TestObjects.service()
        let service = TestObjects.service()
        service.includedServices = [included]
        service.characteristics = [TestObjects.characteristic()]
        let seen: CBService = service
        #expect(seen.includedServices == [included])
        #expect(seen.characteristics?.count == 1)
        let characteristic = TestObjects.characteristic()
        characteristic.value = Data([1])
        characteristic.properties = [.write]
        characteristic.permissions = [.writeable]
        let seenCharacteristic: CBCharacteristic = characteristic
        #expect(seenCharacteristic.value == Data([1]))
        #expect(seenCharacteristic.properties == .write)
        #expect(characteristic.permissions == .writeable)
    }

    @Test func aCentralCarriesItsMTULessThree() {
        let central = TestObjects.central(mtu: 23)
        #expect(central.maximumUpdateValueLength == 20)
        central.updateMTU(185)
        #expect(central.maximumUpdateValueLength == 182)
        #expect(central.description.contains("identifier = \(central.identifier.uuidString), MTU = 185>"))
    }

    @Test func aPeerAnswersTheTwoKeysThatClientsRead() {
        let central = TestObjects.central(mtu: 185)
        #expect(central.value(forKey: "identifier") as? UUID == central.identifier)
        #expect((central.value(forKey: "identifier") as? NSUUID)?.uuidString == central.identifier.uuidString)
        #expect(central.value(forKey: "mtuLength") as? Int == 185)
        #expect(central.value(forKey: "mtuLength") as? NSNumber == 185)
    }

    @Test func aRequestCarriesACopyOfItsValue() {
        let request = CBATTRequest(
            central: TestObjects.central(), characteristic: TestObjects.characteristic(), offset: 3, value: nil)
        var data = Data([1, 2])
        request.value = data
        data.append(3)
        #expect(request.value == Data([1, 2]))
        #expect(request.offset == 3)
    }
}
