#if Emulator
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// The behavior of the emulated world, as an app sees it.
@Suite struct EmulatedWorldTests {
    private static let device = PeripheralDescription(
        name: "Device", advertising: [AdvertisingDescription(AdvertisingData(services: ["180F"]))],
        services: [
            ServiceDescription(
                "180F",
                characteristics: [
                    CharacteristicDescription("2A19", [.read, .write, .notify], value: Data([1])),
                    CharacteristicDescription(
                        "2A1A", .read, value: Data([2]), permissions: [.readEncryptionRequired]),
                ])
        ], maximumMTU: 23, pairing: PairingDescription(capability: .keyboardOnly), prepareQueueLength: 2)

    private func app() async throws -> (EmulatedApp, EmulatedDevice) {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(Self.device)
        return (try await EmulatedApp(emulator), device)
    }

    // MARK: Faults

    @Test func faultsOfAWorldFileAreErrorsOfTheApp() async throws {
        var description = Self.device
        description.faults = [
            DeviceFault(.connect, .fail()), DeviceFault(.read, .fail(0x80)), DeviceFault(.readRSSI, .fail()),
            DeviceFault(.notify, .fail(), of: "2A19"), DeviceFault(.write, .disconnect),
        ]
        let world = try WorldDescription(json: WorldDescription(devices: [description]).json())
        let emulator = try Emulator(world: world, configuration: .instant, time: .virtual)
        let app = try await EmulatedApp(emulator)
        let device = try #require(emulator.devices.first)
        let peripheral = try await app.retrieve(device)
        #expect(
            try await app.lines { app.manager.connect(peripheral) } == ["failed to connect disconnected CBError 10"])
        let level = try #require(try await app.connect(peripheral).first)
        #expect(try await app.lines { peripheral.readValue(for: level) } == ["value [] CBATTError 128"])
        #expect(try await app.lines { peripheral.readRSSI() } == ["rssi 127 CBError 0"])
        #expect(try await app.lines { peripheral.setNotifyValue(true, for: level) } == ["notifying true"])
        #expect(try await app.lines { device.notify("2A19", value: Data([5])) } == [])
        #expect(try await app.lines { device.notify("2A19", value: Data([6])) } == ["value [6]"])
        #expect(
            try await app.lines { peripheral.writeValue(Data([1]), for: level, type: .withResponse) }
                == ["disconnected disconnected CBError 7"])
    }

    @Test func aPausedStepGoesOnWhenItIsResumed() async throws {
        let (app, device) = try await app()
        let peripheral = try await app.retrieve(device)
        device.inject(DeviceFault(.connect, .pause))
        device.inject(DeviceFault(.discoverServices, .pause))
        #expect(try await app.lines(within: 100) { app.manager.connect(peripheral) } == [])
        #expect(try await app.lines { device.resume() }.first == "connected connected")
        #expect(try await app.lines(within: 20) { peripheral.discoverServices(nil) } == [])
        #expect(try await app.lines { device.resume() } == [#"services ["180F"]"#])
    }

    @Test func aWriteThatIsTooLongForThePrepareQueueFails() async throws {
        let (app, device) = try await app()
        let peripheral = try await app.retrieve(device)
        let level = try #require(try await app.connect(peripheral).first)
        let written = try await app.lines {
            peripheral.writeValue(Data(count: 36), for: level, type: .withResponse)
            peripheral.writeValue(Data(count: 37), for: level, type: .withResponse)
        }
        #expect(written == ["written", "written CBATTError \(CBATTError.prepareQueueFull.rawValue)"])
    }

    // MARK: Pairing

    /// A delegate that records the calls of an agent.
    private final class Agent: CBPairingAgentDelegate, Sendable {
        let lines = Lock<[String]>([])

        func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) { log("asked") }
        func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) { log("cancelled") }
        func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) { log("paired") }

        private func log(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func aPasskeyThatWasTypedIsNotTakenBack() async throws {
        let (app, device) = try await app()
        let listener = Agent()
        let agent = CBPairingAgent(
            backend: .emulator(app.emulator), capability: .displayOnly, delegate: listener,
            queue: DispatchQueue(label: "agent"))
        let peripheral = try await app.retrieve(device)
        let secret = try #require(try await app.connect(peripheral).last)
        #expect(try await app.lines { peripheral.readValue(for: secret) } == ["value [2]"])
        #expect(listener.lines.withLock { $0 } == ["asked", "paired"])
        withExtendedLifetime(agent) {}
    }

    // MARK: Two hosts

    /// The backend of a host, for managers that cannot name one.
    private struct HostBackend: BluetoothBackend {
        let emulator: Emulator
        let host: String
        var name: String { emulator.name }
        var clock: any BackendClock { emulator.clock }

        func authorization() -> AuthorizationStatus { emulator.authorization() }
        func supports(_ feature: BackendFeature) -> Bool { emulator.supports(feature) }
        func makeCentral(_ options: RoleOptions) -> any CentralBackend {
            emulator.makeCentral(RoleOptions(adapter: host, restoreIdentifier: options.restoreIdentifier))
        }
        func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
            emulator.makePeripheral(RoleOptions(adapter: host, restoreIdentifier: options.restoreIdentifier))
        }
        func makePairing() -> any PairingBackend { emulator.makePairing() }
    }

    @Test func aPeripheralConnectsBackToItsCentralOverTheSameLink() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(HostDescription(name: "phone"))
        let backend = CBBackendSelection.custom(HostBackend(emulator: emulator, host: "phone"))
        let queue = DispatchQueue(label: "server")
        let served = PeripheralRecorder(queue: queue)
        let server = CBPeripheralManager(backend: backend, delegate: served, queue: queue)
        let centrals = Lock<[UUID]>([])
        served.onEach { _, line in
            guard line.hasPrefix("read"), let request = served.reads.last else { return }
            centrals.withLock { $0.append(request.central.identifier) }
            request.value = Data([9])
            server.respond(to: request, withResult: .success)
        }
        let laptop = try await EmulatedApp(emulator)
        let phone = try await EmulatedApp(emulator, backend: backend)
        let service = CBMutableService(type: CBUUID(string: "C0DE"), primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "C0D1"), properties: .read, value: nil, permissions: .readable)
        ]
        server.add(service)
        server.startAdvertising([:])
        let device = try #require(emulator.host(named: "phone")?.peripheral)
        let peripheral = try await laptop.retrieve(device)
        let characteristic = try #require(try await laptop.connect(peripheral).first)
        #expect(try await laptop.lines { peripheral.readValue(for: characteristic) } == ["value [9]"])
        let central = try #require(centrals.withLock { $0.first })
        let back = try phone.retrieve(central)
        #expect(try await phone.lines { phone.manager.connect(back) }.first == "connected connected")
        // The laptop's app receives nothing, and keeps its link to itself.
        #expect(
            try await laptop.lines { laptop.manager.cancelPeripheralConnection(peripheral) }
                == ["disconnected disconnected"])
        #expect(back.state == .connected)
        #expect(
            try await phone.lines { phone.manager.cancelPeripheralConnection(back) }
                == ["disconnected disconnected"])
    }

    // MARK: Saved worlds

    /// A delegate that records restored state.
    private final class Restored: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate, @unchecked Sendable {
        // Invariant: used on the managers' queue, and by the test while time is paused.
        var lines: [String] = []
        var peripherals: [CBPeripheral] = []
        var services: [CBMutableService] = []
        var scanned: [CBUUID] = []
        var advertised: [String: Any] = [:]

        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            lines.append("restore central")
            peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
            scanned = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] ?? []
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) { lines.append("central \(central.state)") }

        func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
            lines.append("restore peripheral")
            services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
            advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            lines.append("peripheral \(peripheral.state)")
        }
    }

    private static let preserved = WorldDescription(
        hosts: [
            HostDescription(
                name: "default",
                centrals: [
                    PreservedCentralDescription(
                        identifier: "app", scan: ScanParameters(services: ["180D"]),
                        peers: [PreservedCentralDescription.Peer(device: "Device", subscriptions: ["2A19"])])
                ],
                peripherals: [
                    PreservedPeripheralDescription(
                        identifier: "app",
                        services: [
                            ServiceDescription(
                                "C0DE", characteristics: [CharacteristicDescription("C0D1", [.read, .notify])])
                        ], advertisement: AdvertisingData(localName: "Mine", services: ["C0DE"]))
                ])
        ], devices: [device])

    @Test(arguments: [false, true])
    func S141_S142_S143_bothManagersAreRestoredFromAPreservedWorld(isSnapshot: Bool) async throws {
        let world = try WorldDescription(json: Self.preserved.json())
        var emulator = try Emulator(world: world, configuration: .instant, time: .virtual)
        try await emulator.advance(by: .seconds(1))
        if isSnapshot { emulator = Emulator(restoring: try emulator.snapshot()) }
        let restored = Restored()
        let queue = DispatchQueue(label: "restored")
        let central = CBCentralManager(
            backend: .emulator(emulator), delegate: restored, queue: queue,
            options: [CBCentralManagerOptionRestoreIdentifierKey: "app"])
        let peripheral = CBPeripheralManager(
            backend: .emulator(emulator), delegate: restored, queue: queue,
            options: [CBPeripheralManagerOptionRestoreIdentifierKey: "app"])
        try await emulator.advance(by: .seconds(1))
        #expect(
            restored.lines.sorted() == [
                "central poweredOn", "peripheral poweredOn", "restore central", "restore peripheral",
            ])
        let device = try #require(restored.peripherals.first)
        #expect(device.name == "Device")
        #expect(device.state == .connected)
        let known = device.services?.flatMap { $0.characteristics ?? [] } ?? []
        #expect(known.filter(\.isNotifying).map(\.uuid) == [CBUUID(string: "2A19")])
        #expect(restored.scanned == [CBUUID(string: "180D")])
        #expect(central.isScanning)
        let service = try #require(restored.services.first)
        #expect(service.uuid == CBUUID(string: "C0DE"))
        #expect(service.characteristics?.map(\.uuid) == [CBUUID(string: "C0D1")])
        #expect(restored.advertised[CBAdvertisementDataLocalNameKey] as? String == "Mine")
        #expect(peripheral.isAdvertising)
    }
}
#endif
