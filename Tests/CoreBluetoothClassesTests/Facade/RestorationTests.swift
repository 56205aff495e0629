import BluetoothBackend
import BluetoothSupport
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// Restoration and connection events of a central manager, over a scripted backend.
@Suite struct RestorationTests {
    /// A delegate that records its calls and retains the objects.
    private final class Delegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
        // Invariant: used on the manager's queue, and by the test after that queue settled.
        var lines: [String] = []
        var dictionary: [String: Any] = [:]
        var stateWithin: CBManagerState?
        var keepsPeripherals = true
        var peripherals: [CBPeripheral] = []

        func centralManagerDidUpdateState(_ central: CBCentralManager) { lines.append("state \(central.state)") }

        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            lines.append("restore")
            stateWithin = central.state
            let restored = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
            for peripheral in restored {
                peripheral.delegate = self
                peripheral.readRSSI()
            }
            guard keepsPeripherals else { return }
            dictionary = dict
            peripherals = restored
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            lines.append("connected")
        }

        func centralManager(
            _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
        ) {
            lines.append("event \(event) \(peripheral.name ?? "-")")
            peripherals.append(peripheral)
        }

        func centralManager(
            _ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral
        ) {
            lines.append("ancs \(peripheral.ancsAuthorized)")
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) {
            lines.append("value \(characteristic.value.map { Array($0) } ?? [])")
        }
    }

    private let delegate = Delegate()
    private let link = LinkID(rawValue: 9)
    private let level = CharacteristicRecord(
        id: AttributeID(rawValue: 2), uuid: "2A19", properties: [.read, .notify])
    private let connected = PeerID(UUID())
    private let connecting = PeerID(UUID())

    private var state: RestoredCentralState {
        let battery = ServiceRecord(id: AttributeID(rawValue: 1), uuid: "180F", isPrimary: true)
        return RestoredCentralState(
            peers: [
                .init(
                    summary: PeerSummary(id: connected, name: "sensor", address: "00:11:22:33:44:55"),
                    operation: OperationID(rawValue: 5), link: link,
                    parameters: LinkParameters(mtu: 185, writeCredits: 1),
                    services: [.init(record: battery, characteristics: [level], notifying: [level.id])]),
                .init(summary: PeerSummary(id: connecting), operation: OperationID(rawValue: 6)),
            ],
            scan: ScanParameters(services: ["180D"], solicitedServices: ["180A"], allowDuplicates: true))
    }

    private func fixture(identifier: String? = "app") -> FacadeFixture {
        let fixture = FacadeFixture(
            options: identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] })
        fixture.manager?.delegate = delegate
        return fixture
    }

    @Test func S2_S141_willRestoreStateIsTheFirstCallAndTakesNoCommands() async {
        let fixture = fixture()
        await fixture.central.play(.restored(state), .stateChanged(.poweredOn))
        #expect(delegate.lines == ["restore", "state poweredOn"])
        #expect(delegate.stateWithin == .unknown)
        #expect(!fixture.central.commands.contains { if case .request(_, _, .readRSSI) = $0 { true } else { false } })
    }

    @Test func S142_theDictionaryHasPeripheralsAndTheScan() async throws {
        let fixture = fixture()
        await fixture.central.play(.restored(state), .stateChanged(.poweredOn))
        let dictionary = delegate.dictionary
        #expect(
            dictionary[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] == [CBUUID(string: "180D")])
        let options = try #require(
            dictionary[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any])
        #expect((options[CBCentralManagerScanOptionAllowDuplicatesKey] as? NSNumber)?.boolValue == true)
        #expect(
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180A")])
        #expect(delegate.peripherals.map(\.state) == [.connected, .connecting])
        let peripheral = try #require(delegate.peripherals.first)
        #expect(peripheral.name == "sensor")
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 182)
        let characteristic = try #require(peripheral.services?.first?.characteristics?.first)
        #expect(characteristic.isNotifying)
        #expect(characteristic.service === peripheral.services?.first)
        #expect(fixture.manager?.isScanning == true)
        #expect(fixture.central.commands.contains(.startScan(try #require(state.scan))))
    }

    @Test func S142_restoredAttributesAreUsable() async throws {
        let fixture = fixture()
        await fixture.central.play(.restored(state), .stateChanged(.poweredOn))
        let peripheral = try #require(delegate.peripherals.first)
        let characteristic = try #require(peripheral.services?.first?.characteristics?.first)
        await fixture.central.play(.valueNotified(link: link, attribute: level.id, value: Data([7])))
        #expect(delegate.lines.last == "value [7]")
        peripheral.readValue(for: characteristic)
        let operation = try #require(fixture.central.lastOperation)
        #expect(operation > OperationID(rawValue: 6))
        #expect(fixture.central.commands.last == .request(link: link, operation: operation, .read(level.id)))
    }

    @Test func S142_missingPartsAreMissingKeys() async {
        let fixture = fixture()
        await fixture.central.play(.restored(RestoredCentralState()), .stateChanged(.poweredOn))
        #expect(delegate.lines == ["restore", "state poweredOn"])
        #expect(delegate.dictionary.isEmpty)
    }

    @Test func S31_S142_restoredPeripheralsThatNobodyKeepsAreDisconnected() async {
        delegate.keepsPeripherals = false
        let fixture = fixture()
        await fixture.central.play(.restored(state), .stateChanged(.poweredOn))
        await fixture.central.settle()
        #expect(fixture.central.commands.contains(.disconnect(peer: connected)))
        #expect(fixture.central.commands.contains(.disconnect(peer: connecting)))
    }

    @Test func S144_withoutAnIdentifierNothingIsRestoredAndTheLogSaysSo() async {
        LogCapture.start()
        let fixture = fixture(identifier: nil)
        await fixture.central.play(.restored(state), .stateChanged(.poweredOn))
        #expect(delegate.lines == ["state poweredOn"])
        let manager = "\(fixture.manager!)"
        #expect(
            LogCapture.lines(containing: "API MISUSE: \(manager) has no restore identifier but the delegate").count
                == 1)
    }

    @Test func S145_theIdentifierIsAcceptedWhereNothingIsRestored() async {
        let fixture = fixture()
        await fixture.central.play(.stateChanged(.poweredOn))
        #expect(delegate.lines == ["state poweredOn"])
    }

    // MARK: Connection events

    @Test func S155_aConnectionToTheSystemIsReportedAndMakesNoLocalOne() async throws {
        let backend = ScriptedBackend()
        backend.know([PeerSummary(id: connected, name: "keyboard")])
        let manager = CBCentralManager(
            backend: .custom(backend), delegate: delegate, queue: DispatchQueue(label: "events"))
        let central = backend.centrals[0]
        await central.play(.stateChanged(.poweredOn))
        manager.registerForConnectionEvents(options: [
            .serviceUUIDs: [CBUUID(string: "180F")], .peripheralUUIDs: [connecting.uuid],
        ])
        #expect(
            central.commands.last
                == .setConnectionEventFilter(ConnectionEventFilter(services: ["180F"], peers: [connecting])))
        await central.play(.connectionEvent(peer: connected, isConnected: true))
        await central.play(.connectionEvent(peer: connected, isConnected: false))
        #expect(delegate.lines.suffix(2) == ["event peerConnected keyboard", "event peerDisconnected keyboard"])
        let peripheral = try #require(delegate.peripherals.first)
        #expect(peripheral.state == .disconnected)
        manager.registerForConnectionEvents(options: nil)
        #expect(central.commands.last == .setConnectionEventFilter(nil))
    }

    @Test func S155_onlyFourServicesAreWatched() async {
        let fixture = fixture()
        await fixture.central.play(.stateChanged(.poweredOn))
        let uuids = ["180A", "180B", "180C", "180D", "180E"].map { CBUUID(string: $0) }
        fixture.manager?.registerForConnectionEvents(options: [.serviceUUIDs: uuids])
        #expect(
            fixture.central.commands.last
                == .setConnectionEventFilter(
                    ConnectionEventFilter(services: ["180A", "180B", "180C", "180D"])))
    }

    @Test func S156_theAuthorizationIsNewWithinTheCallback() async {
        let fixture = fixture()
        let peripheral = await fixture.connect()
        #expect(!peripheral.ancsAuthorized)
        await fixture.central.play(.ancsAuthorizationChanged(peer: fixture.peer, isAuthorized: true))
        #expect(delegate.lines.last == "ancs true")
        #expect(peripheral.ancsAuthorized)
    }
}
