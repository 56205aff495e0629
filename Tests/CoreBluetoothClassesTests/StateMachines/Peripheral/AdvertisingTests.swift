import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct AdvertisingTests {
    typealias Fixture = PeripheralMachineFixture

    private let long = (0..<4).map { BluetoothUUID(value: UInt128($0) + 0xF000_0000_0000) }
    private let layout = AdvertisementLayout(localName: "thing", serviceUUIDs: ["180D"])

    private func operation(in effects: [PeripheralEffect]) -> OperationID {
        effects.commands.compactMap(\.operation).first ?? OperationID(rawValue: 0)
    }

    /// Returns a machine that advertises.
    private func advertising() -> Fixture {
        var fixture = Fixture.poweredOn()
        let operation = operation(in: fixture.machine.startAdvertising(layout))
        _ = fixture.machine.handle(.advertisingStarted(operation: operation))
        return fixture
    }

    @Test func S118_nothingButNameAndUUIDsIsAdvertised() {
        #expect(
            layout.advertisement == Advertisement(localName: "thing", serviceUUIDs: ["180D"], isConnectable: true))
        #expect(AdvertisementLayout().advertisement == Advertisement(isConnectable: true))
    }

    @Test func dataOfAToolTakeTheirRoomBeforeUUIDsAndName() {
        let data = Data(repeating: 7, count: 16)
        let layout = AdvertisementLayout(
            localName: "a longer name", serviceUUIDs: ["180D", "180F"], manufacturerData: data,
            serviceData: ["FCD2": Data([1, 2, 3])])
        // The two take 18 and 7 of 28 bytes.
        #expect(layout.serviceUUIDs == ["180D"] && layout.overflowServiceUUIDs == ["180F"])
        #expect(layout.localName == "a longer n" && layout.namePlace == .scanResponse)
        #expect(layout.advertisement.manufacturerData == data)
        #expect(layout.advertisement.serviceData == ["FCD2": Data([1, 2, 3])])
    }

    @Test func S119_isAdvertisingIsTrueWithTheAnswerAndFalseWithAnError() {
        var fixture = Fixture.poweredOn()
        let first = operation(in: fixture.machine.startAdvertising(layout))
        #expect(!fixture.machine.isAdvertising)
        let error = BackendError(.outOfSpace, operation: "advertise")
        #expect(
            fixture.machine.handle(.operationFailed(operation: first, error: error))
                == [.callback(.advertisingStarted(error))])
        #expect(!fixture.machine.isAdvertising)
        let second = operation(in: fixture.machine.startAdvertising(layout))
        #expect(
            fixture.machine.handle(.advertisingStarted(operation: second)) == [.callback(.advertisingStarted(nil))])
        #expect(fixture.machine.isAdvertising)
    }

    @Test func S120_aSecondStartIsAnErrorAndTheFirstStays() {
        var fixture = Fixture.poweredOn()
        let first = operation(in: fixture.machine.startAdvertising(layout))
        let second = fixture.machine.startAdvertising(AdvertisementLayout(localName: "other"))
        #expect(second.commands.isEmpty)
        #expect(fixture.machine.handle(second.completions[0]).isEmpty)
        let effects = fixture.machine.handle(.advertisingStarted(operation: first))
        #expect(
            effects == [
                .callback(.advertisingStarted(nil)),
                .callback(
                    .advertisingStarted(BackendError(.alreadyAdvertising, operation: "start advertising"))),
            ])
        #expect(fixture.machine.isAdvertising)
    }

    @Test func S121_stoppingHasNoCallbackAndMayBeRepeated() {
        var fixture = advertising()
        #expect(fixture.machine.stopAdvertising() == [.submit(.stopAdvertising)])
        #expect(!fixture.machine.isAdvertising)
        #expect(fixture.machine.stopAdvertising().isEmpty)
        #expect(fixture.machine.startAdvertising(layout).commands.count == 1)
    }

    @Test func aStartThatWasStoppedIsStillAnswered() {
        var fixture = Fixture.poweredOn()
        let operation = operation(in: fixture.machine.startAdvertising(layout))
        _ = fixture.machine.stopAdvertising()
        #expect(
            fixture.machine.handle(.advertisingStarted(operation: operation))
                == [.callback(.advertisingStarted(nil))])
        #expect(!fixture.machine.isAdvertising)
    }

    @Test func S122_uuidsComeFirstAndTheSurplusOverflows() {
        let two = AdvertisementLayout(serviceUUIDs: [long[0], long[1], "180D", "180F"])
        #expect(two.serviceUUIDs == [long[0], "180D", "180F"])
        #expect(two.overflowServiceUUIDs == [long[1]])
        let short = (0..<15).map { BluetoothUUID(0xFF00 + UInt16($0)) }
        let many = AdvertisementLayout(serviceUUIDs: short)
        #expect(many.serviceUUIDs.count == 14)
        #expect(many.overflowServiceUUIDs == [short[14]])
        #expect(many.advertisement.overflowServiceUUIDs == [short[14]])
        let middle = AdvertisementLayout(serviceUUIDs: [BluetoothUUID(bits32: 0x1234_5678)] + long)
        #expect(middle.serviceUUIDs.count == 2)
    }

    @Test(arguments: [
        // Characters, 128-bit UUIDs, the remaining length of the name, and its place.
        (28, 0, 28, AdvertisementLayout.Place.advertisement), (40, 0, 28, .advertisement),
        (12, 1, 12, .advertisement), (13, 1, 12, .advertisement), (12, 2, 12, .advertisement),
    ])
    func S122_aLongNameIsShortenedToTheLargerRoom(
        length: Int, uuids: Int, kept: Int, place: AdvertisementLayout.Place
    ) {
        let layout = AdvertisementLayout(
            localName: String(repeating: "x", count: length), serviceUUIDs: Array(long.prefix(uuids)))
        #expect(layout.localName?.count == kept)
        #expect(layout.namePlace == place)
    }

    @Test func S122_theScanResponseTakesTenBytesOfTheName() {
        let uuids: [BluetoothUUID] = [long[0]] + ["FF01", "FF02", "FF03"]
        let whole = AdvertisementLayout(localName: "0123456789", serviceUUIDs: uuids)
        #expect(whole.localName == "0123456789")
        #expect(whole.namePlace == .scanResponse)
        let cut = AdvertisementLayout(localName: "0123456789A", serviceUUIDs: uuids)
        #expect(cut.localName == "0123456789")
        #expect(cut.namePlace == .scanResponse)
        let fits = AdvertisementLayout(localName: "012345", serviceUUIDs: uuids)
        #expect(fits.namePlace == .advertisement)
        #expect(AdvertisementLayout(serviceUUIDs: uuids).namePlace == nil)
    }

    @Test func S122_aNameIsCutBetweenCharactersOfUTF8() {
        let name = String(repeating: "é", count: 20)
        #expect(AdvertisementLayout(localName: name).localName == String(repeating: "é", count: 14))
        let odd = AdvertisementLayout(localName: "x" + name)
        #expect(odd.localName == "x" + String(repeating: "é", count: 13))
        #expect(odd.localName?.utf8.count == 27)
    }

    @Test func S123_advertisingIsConnectableAndGoesOnWithACentral() {
        var fixture = advertising()
        #expect(layout.advertisement.isConnectable == true)
        fixture.publish(Fixture.service(characteristics: [Fixture.characteristic()]))
        _ = fixture.subscribe()
        _ = fixture.read()
        _ = fixture.unsubscribe()
        #expect(fixture.machine.isAdvertising)
    }

    @Test func S104_powerOffPausesTheAdvertisement() {
        var fixture = advertising()
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(!fixture.machine.isAdvertising)
        let effects = fixture.machine.handle(.stateChanged(.poweredOn))
        let operation = operation(in: effects)
        #expect(
            effects.commands == [.startAdvertising(operation: operation, advertisement: layout.advertisement)])
        #expect(effects.callbacks == [.stateUpdated])
        #expect(fixture.machine.handle(.advertisingStarted(operation: operation)).isEmpty)
        #expect(fixture.machine.isAdvertising)
    }

    @Test func S104_belowPoweredOffItStopsForGood() {
        for state: AdapterState in [.unknown, .resetting, .unsupported, .unauthorized] {
            var fixture = advertising()
            _ = fixture.machine.handle(.stateChanged(.poweredOff))
            _ = fixture.machine.handle(.stateChanged(state))
            #expect(fixture.machine.handle(.stateChanged(.poweredOn)) == [.callback(.stateUpdated)])
            #expect(fixture.machine.startAdvertising(layout).commands.count == 1)
        }
    }

    @Test func aStartThatPowerOffInterruptsIsForgotten() {
        var fixture = Fixture.poweredOn()
        let operation = operation(in: fixture.machine.startAdvertising(layout))
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(fixture.machine.handle(.stateChanged(.poweredOn)).commands.isEmpty)
        #expect(fixture.machine.handle(.advertisingStarted(operation: operation)).isEmpty)
    }

    @Test func aPauseSurvivesASecondPowerOffBeforeItIsOver() {
        var fixture = advertising()
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(fixture.machine.handle(.stateChanged(.poweredOn)).commands.count == 1)
    }

    @Test func anAdvertisementThatCannotGoOnIsLogged() {
        var fixture = advertising()
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        let operation = operation(in: fixture.machine.handle(.stateChanged(.poweredOn)))
        let error = BackendError(.outOfSpace, operation: "advertise")
        #expect(
            fixture.machine.handle(.operationFailed(operation: operation, error: error))
                == [.misuse(.advertisingNotResumed(error))])
        #expect(!fixture.machine.isAdvertising)
    }

    @Test func anAdvertisementThatTheBackendEndsIsOver() {
        var fixture = advertising()
        #expect(fixture.machine.handle(.advertisingEnded) == [.misuse(.advertisingEnded)])
        #expect(!fixture.machine.isAdvertising)
        #expect(fixture.machine.handle(.advertisingEnded).isEmpty)
        #expect(fixture.machine.startAdvertising(layout).commands.count == 1)
    }
}
