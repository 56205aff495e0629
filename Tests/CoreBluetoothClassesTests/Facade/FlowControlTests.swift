#if Emulator
import BluetoothEmulator
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// Bursts of write commands and of updates, through the classes on the emulator.
@Suite struct FlowControlTests {
    private static func configuration(
        announcesSentBursts: Bool = true, writeReadinessDelay: Duration = .zero
    ) -> EmulatorConfiguration {
        var configuration = EmulatorConfiguration.default
        configuration.announcesSentBursts = announcesSentBursts
        configuration.writeReadinessDelay = writeReadinessDelay
        return configuration
    }

    @Test func S86_aClientThatSendsOneChunkForEachReadySendsAll() async throws {
        let pair = try await Pair(Self.configuration())
        try await pair.connect()
        #expect(pair.client.readyCount == 0)
        pair.client.sendsOnReady = 50
        pair.client.send()
        try await pair.advance(60)
        #expect(pair.server.received == (0..<51).map { UInt8($0) })
        #expect(pair.client.readyCount == 51)
    }

    @Test func S86_aBurstIsAnnouncedOnceWhenItHasLeft() async throws {
        let pair = try await Pair(Self.configuration())
        try await pair.connect()
        for _ in 0..<15 { pair.client.send() }
        try await pair.advance(10)
        #expect(pair.server.received.count == 15)
        #expect(pair.client.readyCount == 1)
        // A full queue of 20 is announced when it has room and when it is empty.
        for _ in 0..<20 { pair.client.send() }
        #expect(pair.client.peripheral?.canSendWriteWithoutResponse == false)
        try await pair.advance(10)
        #expect(pair.client.readyCount == 3)
    }

    @Test func S86_aSettingRestrictsReadyToAFullQueue() async throws {
        let pair = try await Pair(Self.configuration(announcesSentBursts: false))
        try await pair.connect()
        pair.client.sendsOnReady = 50
        pair.client.send()
        try await pair.advance(60)
        #expect(pair.client.readyCount == 0)
        pair.client.sendsOnReady = 0
        for _ in 0..<20 { pair.client.send() }
        try await pair.advance(10)
        #expect(pair.client.readyCount == 1)
    }

    @Test func S85_aSettingDelaysTheFirstReadiness() async throws {
        let pair = try await Pair(Self.configuration(writeReadinessDelay: .seconds(20)))
        try await pair.connect()
        let peripheral = try #require(pair.client.peripheral)
        #expect(!peripheral.canSendWriteWithoutResponse)
        try await pair.advance(30)
        #expect(peripheral.canSendWriteWithoutResponse)
        #expect(pair.client.readyCount == 1)
        pair.client.send()
        try await pair.advance(10)
        #expect(pair.server.received == [0])
    }

    @Test func S137_aServerThatSendsOneChunkForEachReadySendsAll() async throws {
        let pair = try await Pair(Self.configuration())
        try await pair.connect()
        try await pair.subscribe()
        pair.server.sendsOnReady = 50
        #expect(pair.server.send())
        try await pair.advance(60)
        #expect(pair.client.received == (0..<51).map { UInt8($0) })
        #expect(pair.server.readyCount == 51)
    }

    @Test func S137_theSettingRestrictsReadyToARefusal() async throws {
        let pair = try await Pair(Self.configuration(announcesSentBursts: false))
        try await pair.connect()
        try await pair.subscribe()
        #expect(pair.server.send())
        try await pair.advance(10)
        #expect(pair.server.readyCount == 0)
        var count = 1
        while pair.server.send() { count += 1 }
        try await pair.advance(10)
        #expect(pair.server.readyCount == 1)
        #expect(pair.client.received.count == count)
    }

    @Test func theAdvertisedNameOfAManagerWithoutAHostStaysWhenItConnects() async throws {
        let pair = try await Pair(Self.configuration())
        try await pair.find()
        #expect(pair.client.peripheral?.name == "Chunks")
        try await pair.connect()
        try await pair.advance(10)
        #expect(pair.client.peripheral?.name == "Chunks")
        #expect(pair.client.names.isEmpty)
    }
}

/// A client and a server, each with its manager, in a separate world; the test acts while time is paused.
private final class Pair {
    let emulator: Emulator
    let client = Client()
    let server = Server()
    private let central: CBCentralManager
    private let manager: CBPeripheralManager

    init(_ configuration: EmulatorConfiguration) async throws {
        emulator = Emulator(configuration: configuration, time: .virtual)
        central = CBCentralManager(
            backend: .emulator(emulator), delegate: client, queue: DispatchQueue(label: "client"))
        manager = CBPeripheralManager(
            backend: .emulator(emulator), delegate: server, queue: DispatchQueue(label: "server"))
        server.manager = manager
        try await advance(1)
        manager.add(server.service)
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Chunks", CBAdvertisementDataServiceUUIDsKey: [server.service.uuid],
        ])
        try await advance(1)
    }

    func advance(_ seconds: Int) async throws { try await emulator.advance(by: .seconds(seconds)) }

    func find() async throws {
        central.scanForPeripherals(withServices: [server.service.uuid])
        try await advance(2)
        central.stopScan()
        client.peripheral?.delegate = client
    }

    /// Connects and discovers within ten seconds.
    func connect() async throws {
        try await find()
        let peripheral = try #require(client.peripheral)
        central.connect(peripheral)
        try await advance(2)
        peripheral.discoverServices(nil)
        try await advance(2)
        peripheral.discoverCharacteristics(nil, for: try #require(peripheral.services?.first))
        try await advance(2)
    }

    func subscribe() async throws {
        client.peripheral?.setNotifyValue(true, for: try #require(client.characteristic))
        try await advance(2)
    }
}

// Invariant: used on its manager's queue, and by the test while time is paused.
private final class Client: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    var peripheral: CBPeripheral?
    var sendsOnReady = 0
    private(set) var readyCount = 0
    private(set) var received: [UInt8] = []
    private(set) var names: [String?] = []
    private var next: UInt8 = 0

    var characteristic: CBCharacteristic? { peripheral?.services?.first?.characteristics?.first }

    /// Sends one chunk.
    func send() {
        guard let characteristic else { return }
        peripheral?.writeValue(Data([next]), for: characteristic, type: .withoutResponse)
        next &+= 1
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        readyCount += 1
        guard sendsOnReady > 0 else { return }
        sendsOnReady -= 1
        send()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        received += characteristic.value ?? Data()
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { names.append(peripheral.name) }
}

// Invariant: used on its manager's queue, and by the test while time is paused.
private final class Server: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    let service = CBMutableService(type: CBUUID(string: "C0DE"), primary: true)
    private let chunks = CBMutableCharacteristic(
        type: CBUUID(string: "C0D1"), properties: [.writeWithoutResponse, .notify], value: nil,
        permissions: .writeable)
    weak var manager: CBPeripheralManager?
    var sendsOnReady = 0
    private(set) var readyCount = 0
    private(set) var received: [UInt8] = []
    private var next: UInt8 = 0

    override init() {
        super.init()
        service.characteristics = [chunks]
    }

    /// Sends one chunk.
    func send() -> Bool {
        guard manager?.updateValue(Data([next]), for: chunks, onSubscribedCentrals: nil) == true else { return false }
        next &+= 1
        return true
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests { received += request.value ?? Data() }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        readyCount += 1
        guard sendsOnReady > 0 else { return }
        sendsOnReady -= 1
        _ = send()
    }
}
#endif
