import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

@Suite struct PeripheralAdvertisingTests {
    private func advertisements(_ fixture: PeripheralFixture) -> [Advertisement] {
        fixture.role.commands.compactMap { command in
            if case .startAdvertising(_, let advertisement) = command { advertisement } else { nil }
        }
    }

    /// Returns the advertisement that a dictionary leads to.
    private func advertisement(_ dictionary: [String: Any]?) async -> Advertisement? {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.startAdvertising(dictionary)
        return advertisements(fixture).last
    }

    @Test func S118_onlyNameAndUUIDsAreHonoredAndOtherKeysAreLogged() async {
        LogCapture.start()
        let key = "key \(UUID())"
        let advertisement = await advertisement([
            CBAdvertisementDataLocalNameKey: "thing",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
            CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3]),
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "180D"): Data([1])],
            CBAdvertisementDataTxPowerLevelKey: 4, key: 1,
        ])
        #expect(
            advertisement == Advertisement(localName: "thing", serviceUUIDs: ["180D"], isConnectable: true))
        #expect(LogCapture.lines(containing: "advertisement key \(key) is ignored: it is not allowed").count == 1)
        let manufacturer = "advertisement key \(CBAdvertisementDataManufacturerDataKey) is ignored"
        #expect(!LogCapture.lines(containing: manufacturer).isEmpty)
    }

    @Test func S118_nilAndEmptyDictionariesAreAllowed() async {
        #expect(await advertisement(nil) == Advertisement(isConnectable: true))
        #expect(await advertisement([:]) == Advertisement(isConnectable: true))
        #expect(
            await advertisement([CBAdvertisementDataServiceUUIDsKey: [CBUUID]()])
                == Advertisement(isConnectable: true))
    }

    @Test func S114_advertisedServicesNeedNotBePublished() async {
        #expect(
            await advertisement([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF3")]])?.serviceUUIDs
                == ["FFF3"])
    }

    @Test func S120_aSecondStartIsAlreadyAdvertisingAndChangesNothing() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "first"])
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!))
        fixture.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "second"])
        await fixture.role.settle()
        #expect(fixture.recorder.lines.suffix(2) == ["advertising true", "advertising true CBError 9"])
        #expect(advertisements(fixture).map(\.localName) == ["first"])
        fixture.manager.stopAdvertising()
        fixture.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "second"])
        #expect(advertisements(fixture).map(\.localName) == ["first", "second"])
    }

    @Test func S121_stoppingIsSilentAndImmediate() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.stopAdvertising()
        fixture.manager.startAdvertising(nil)
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!))
        fixture.manager.stopAdvertising()
        fixture.manager.stopAdvertising()
        #expect(!fixture.manager.isAdvertising)
        await fixture.role.settle()
        #expect(fixture.recorder.lines.last == "advertising true")
        #expect(fixture.role.commands.filter { $0 == .stopAdvertising }.count == 1)
    }

    @Test func S124_valuesOfOtherTypesAreNotAdvertised() async {
        LogCapture.start()
        let advertisement = await advertisement([
            CBAdvertisementDataLocalNameKey: 5, CBAdvertisementDataServiceUUIDsKey: ["180D"],
        ])
        #expect(advertisement == Advertisement(isConnectable: true))
        let name = "option \(CBAdvertisementDataLocalNameKey) is ignored: it cannot be a Int"
        #expect(!LogCapture.lines(containing: name).isEmpty)
        let bridged = await self.advertisement([
            CBAdvertisementDataLocalNameKey: NSString(string: "thing"),
            CBAdvertisementDataServiceUUIDsKey: NSArray(object: CBUUID(string: "180D")),
        ])
        #expect(bridged?.localName == "thing")
        #expect(bridged?.serviceUUIDs == ["180D"])
    }
}
