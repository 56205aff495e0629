import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

@Suite struct LinkTests {
    @Test func S45_theStateIsDisconnectedInTheCallbackAndNoMoreComesAfter() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        peripheral.readValue(for: characteristic)
        let operation = fixture.central.lastOperation!
        await fixture.central.play(
            .disconnected(link: fixture.link, reason: .remote, at: Date(), isReconnecting: false),
            .response(link: fixture.link, operation: operation, .value(Data([1]))),
            .valueNotified(link: fixture.link, attribute: AttributeID(rawValue: 2), value: Data([2])))
        #expect(fixture.recorder.lines.last == "disconnected disconnected CBError 7")
    }

    @Test func S47_servicesAreNilAfterADisconnection() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        _ = await fixture.characteristic(of: peripheral)
        #expect(peripheral.services?.count == 1)
        await fixture.central.play(
            .disconnected(link: fixture.link, reason: .remote, at: Date(), isReconnecting: false))
        #expect(peripheral.services == nil)
    }

    /// The backend has lost the link, but the callback is still to come: the call is accepted, and never answered.
    @Test func aReadBetweenLinkLossAndItsCallbackVanishes() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        fixture.queue.suspendWhenIdle()
        fixture.central.send(.disconnected(link: fixture.link, reason: .timeout, at: Date(), isReconnecting: false))
        #expect(peripheral.state == .connected)
        peripheral.readValue(for: characteristic)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(fixture.recorder.lines.last == "disconnected disconnected CBError 6")
        peripheral.readValue(for: characteristic)
        await fixture.central.settle()
        #expect(fixture.recorder.lines.last == "disconnected disconnected CBError 6")
    }

    @Test func S48_theFiveArgumentFormCarriesTimeAndReconnecting() async {
        final class Delegate: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
            // Invariant: used only on the manager's queue, read after it settled.
            var seen: (CFAbsoluteTime, Bool)?
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func centralManager(
                _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
                timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?
            ) {
                seen = (timestamp, isReconnecting)
            }
        }
        let fixture = FacadeFixture()
        let peripheral = await fixture.discover()
        let delegate = Delegate()
        fixture.manager?.delegate = delegate
        fixture.manager?.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await fixture.linkUp(fixture.link)
        let date = Date(timeIntervalSinceReferenceDate: 4321)
        await fixture.central.play(.disconnected(link: fixture.link, reason: .timeout, at: date, isReconnecting: true))
        #expect(delegate.seen?.0 == 4321)
        #expect(delegate.seen?.1 == true)
        #expect(peripheral.state == .connecting)
    }

    @Test func S50_theStartDelayRunsOnTheBackendsClock() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.discover()
        fixture.manager?.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: NSNumber(value: 2.5)])
        #expect(peripheral.state == .connecting)
        fixture.backend.manualClock.advance(by: .seconds(2))
        await fixture.central.settle()
        #expect(fixture.central.lastConnect == nil)
        fixture.backend.manualClock.advance(by: .seconds(1))
        await fixture.central.settle()
        #expect(fixture.central.lastConnect?.peer == fixture.peer)
    }

    @Test func S51_otherOptionsAreAcceptedAndChangeNothing() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.discover()
        fixture.manager?.connect(
            peripheral,
            options: [
                CBConnectPeripheralOptionNotifyOnConnectionKey: true, CBConnectPeripheralOptionRequiresANCS: true,
                "something else": "entirely", CBConnectPeripheralOptionStartDelayKey: "soon",
            ])
        #expect(
            fixture.central.commands.last
                == .connect(peer: fixture.peer, operation: fixture.central.lastOperation!, options: ConnectOptions()))
    }

    @Test func S59_nothingIsKnownBeforeItsDiscovery() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        #expect(peripheral.services == nil)
        let characteristic = await fixture.characteristic(of: peripheral)
        #expect(characteristic.descriptors == nil)
        #expect(peripheral.services?.first?.includedServices == nil)
    }

    @Test func S65_discoveringWithoutADelegateIsLogged() async {
        LogCapture.start()
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        peripheral.delegate = nil
        peripheral.discoverServices(nil)
        let line = LogCapture.lines(containing: "API MISUSE: Discovering services for peripheral")
            .first { $0.contains(peripheral.identifier.uuidString) }
        #expect(line?.contains("while delegate is either nil or does not implement") == true)
    }

    @Test func aNameForgesNoLineOfTheLog() async throws {
        LogCapture.start()
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let name = "a\nCoreBluetooth error forged\u{1B}[2J\u{9B}\u{202E}"
        await fixture.central.play(
            .discovered(Discovery(peer: fixture.peer, name: name, advertisement: Advertisement(), rssi: -50)))
        peripheral.delegate = nil
        peripheral.discoverServices(nil)
        let line = try #require(
            LogCapture.lines(containing: peripheral.identifier.uuidString).first { $0.contains("API MISUSE") })
        #expect(line.contains(#"a\nCoreBluetooth error forged\u{1B}[2J\u{009B}\u{202E}"#))
        #expect(line.unicodeScalars.allSatisfy { $0.isPrintable })
    }

    @Test func S97_writingAClientConfigurationTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let fixture = FacadeFixture()
            let peripheral = await fixture.connect()
            let characteristic = await fixture.characteristic(of: peripheral)
            peripheral.discoverDescriptors(for: characteristic)
            await fixture.central.play(
                .response(
                    link: fixture.link, operation: fixture.central.lastOperation!,
                    .descriptors([DescriptorRecord(id: AttributeID(rawValue: 3), uuid: "2902")])))
            peripheral.writeValue(Data([1, 0]), for: characteristic.descriptors![0])
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            text.contains(
                "Client Characteristic Configuration descriptors must be configured using "
                    + "setNotifyValue:forCharacteristic:"))
    }

    @Test func S67_S70_aReadUpdatesTheValueAndAnErrorKeepsIt() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        peripheral.readValue(for: characteristic)
        await fixture.central.play(
            .response(link: fixture.link, operation: fixture.central.lastOperation!, .value(Data([100]))))
        #expect(fixture.recorder.lines.last == "value [100]")
        peripheral.readValue(for: characteristic)
        await fixture.central.play(
            .response(
                link: fixture.link, operation: fixture.central.lastOperation!, .failure(.att(0x80, operation: "read"))))
        #expect(fixture.recorder.lines.last == "value [100] CBATTError 128")
    }

    @Test func S75_aWriteDoesNotTouchTheValue() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        peripheral.writeValue(Data([9]), for: characteristic, type: .withResponse)
        await fixture.central.play(.response(link: fixture.link, operation: fixture.central.lastOperation!, .written))
        #expect(fixture.recorder.lines.last == "written")
        #expect(characteristic.value == nil)
    }

    @Test func S83_S84_S86_creditsDecideWhetherAWriteCommandIsTaken() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect(credits: 1)
        let characteristic = await fixture.characteristic(of: peripheral, properties: .writeWithoutResponse)
        #expect(peripheral.canSendWriteWithoutResponse)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        #expect(!peripheral.canSendWriteWithoutResponse)
        peripheral.writeValue(Data([2]), for: characteristic, type: .withoutResponse)
        let written = fixture.central.commands.filter { if case .writeCommand = $0 { true } else { false } }
        #expect(written.count == 1)
        await fixture.central.play(
            .writeCredits(link: fixture.link, count: 1), .writeCredits(link: fixture.link, count: 1))
        #expect(fixture.recorder.lines.filter { $0 == "ready" }.count == 1)
    }

    @Test func S95_descriptorValuesAreTypedByTheirUUID() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        peripheral.discoverDescriptors(for: characteristic)
        let uuids: [BluetoothUUID] = ["2900", "2901", "2902", "2904", "C0DE0D01-7A3D-4C5B-9E1F-2B6A8D4C0F01"]
        await fixture.central.play(
            .response(
                link: fixture.link, operation: fixture.central.lastOperation!,
                .descriptors(
                    uuids.enumerated().map {
                        DescriptorRecord(id: AttributeID(rawValue: UInt32(10 + $0.offset)), uuid: $0.element)
                    })))
        let descriptors = characteristic.descriptors!
        for (descriptor, bytes) in zip(descriptors, [[1, 0], Array("text".utf8), [2, 0], [4, 0], [7]] as [[UInt8]]) {
            peripheral.readValue(for: descriptor)
            await fixture.central.play(
                .response(link: fixture.link, operation: fixture.central.lastOperation!, .value(Data(bytes))))
        }
        #expect(descriptors[0].value as? NSNumber == 1)
        #expect(descriptors[1].value as? String == "text")
        #expect(descriptors[2].value as? NSNumber == 2)
        #expect(descriptors[3].value as? Data == Data([4, 0]))
        #expect(descriptors[4].value as? Data == Data([7]))
    }

    @Test func S98_aFailedRSSIReadCarriesItsError() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        peripheral.readRSSI()
        await fixture.central.play(
            .response(link: fixture.link, operation: fixture.central.lastOperation!, .rssi(-61)))
        peripheral.readRSSI()
        await fixture.central.play(
            .response(
                link: fixture.link, operation: fixture.central.lastOperation!,
                .failure(BackendError(.operationNotSupported, operation: "rssi"))))
        #expect(fixture.recorder.lines.suffix(2) == ["rssi -61", "rssi 127 CBError 13"])
    }

    @Test func aSubscriptionThatEndsByItselfIsReportedWithItsError() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        peripheral.setNotifyValue(true, for: characteristic)
        await fixture.central.play(
            .response(link: fixture.link, operation: fixture.central.lastOperation!, .notifying(true)))
        #expect(characteristic.isNotifying)
        await fixture.central.play(
            .subscriptionEnded(
                link: fixture.link, attribute: AttributeID(rawValue: 2), error: .att(0x05, operation: "StartNotify")))
        #expect(!characteristic.isNotifying)
        #expect(fixture.recorder.lines.suffix(2) == ["notifying true", "notifying false CBATTError 5"])
    }

    @Test func S102_servicesThatStayKeepTheirObjects() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        peripheral.discoverServices(nil)
        await fixture.central.play(
            .response(
                link: fixture.link, operation: fixture.central.lastOperation!,
                .services([
                    ServiceRecord(id: AttributeID(rawValue: 1), uuid: "180F", isPrimary: true),
                    ServiceRecord(id: AttributeID(rawValue: 5), uuid: "180D", isPrimary: true),
                ])))
        let staying = peripheral.services![1]
        await fixture.central.play(
            .servicesChanged(link: fixture.link, removed: [AttributeID(rawValue: 1)], added: []))
        #expect(fixture.recorder.lines.last == "modified [\"180F\"]")
        #expect(peripheral.services?.count == 1)
        #expect(peripheral.services?[0] === staying)
    }
}
