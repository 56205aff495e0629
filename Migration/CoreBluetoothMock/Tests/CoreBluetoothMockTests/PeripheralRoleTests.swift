import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator()) struct PeripheralRoleTests {
    private let emulator = Emulator.current

    /// Returns the outcome of a read or a write, as text.
    private func outcome<Value>(
        _ body: (@escaping (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> String {
        let text = Protected("none")
        body { result in
            text.withLock { text in
                switch result {
                case .success(let value as Data): text = value.map { String($0) }.joined(separator: " ")
                case .success: text = "written"
                case .failure(let error as CBMATTError): text = "ATT \(error.code.rawValue)"
                case .failure(let error as CBMError): text = "CB \(error.code.rawValue)"
                case .failure(let error): text = "\(error)"
                }
            }
        }
        try await emulator.advance(by: .seconds(1))
        return text.withLock { $0 }
    }

    @Test func `A central hears an advertisement that has one of its services`() async throws {
        let central = CBMCentralSpec()
        #expect(central.simulateScan() == nil)
        let app = try await Peripheral.published()
        #expect(app.manager.isAdvertising)
        let heard = try #require(central.simulateScan(withServices: [app.service.uuid]))
        #expect(heard[CBMAdvertisementDataLocalNameKey] as? String == "App")
        #expect(central.simulateScan(withServices: [CBMUUID(string: "1234")]) == nil)
        app.manager.startAdvertising(nil)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["advertising: CB \(CBMError.alreadyAdvertising.rawValue)"])
        app.manager.stopAdvertising()
        #expect(!app.manager.isAdvertising && central.simulateScan() == nil)
    }

    @Test func `A read is answered by the app, whole or from an offset`() async throws {
        let app = try await Peripheral.published()
        let central = CBMCentralSpec()
        #expect(try await outcome { central.simulateReadRequest(for: app.characteristic, completion: $0) } == "CB 3")
        central.simulateConnection()
        #expect(central.isConnected)
        #expect(try await outcome { central.simulateReadRequest(for: app.characteristic, completion: $0) } == "1 2 3")
        #expect(
            try await outcome { central.simulateReadRequest(for: app.characteristic, offset: 2, completion: $0) }
                == "3")
        #expect(app.take() == ["read 0", "read 2"])
        let request = try #require(app.state.withLock { $0.requests.first })
        #expect(request is CBMATTRequestMock && request.characteristic === app.characteristic)
        #expect(request.central.identifier == central.identifier && request.central is CBMCentralMock)
        app.state.withLock { $0.result = .insufficientAuthorization }
        #expect(try await outcome { central.simulateReadRequest(for: app.characteristic, completion: $0) } == "ATT 8")
    }

    @Test func `A write reaches the app, with and without a response`() async throws {
        let app = try await Peripheral.published()
        let central = CBMCentralSpec()
        central.simulateConnection()
        let (data, characteristic) = (Data([7, 8]), app.characteristic)
        #expect(
            try await outcome { central.simulateWriteRequest(data, for: characteristic, completion: $0) } == "written")
        #expect(
            try await outcome { central.simulateWriteRequest(data, for: characteristic, offset: 4, completion: $0) }
                == "written")
        central.simulateWriteCommand(data, for: characteristic)
        central.simulateWriteCommand(Data(count: 21), for: characteristic)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["write 0: 2", "write 4: 2", "write 0: 2"])
        app.state.withLock { $0.result = .writeNotPermitted }
        #expect(
            try await outcome { central.simulateWriteRequest(data, for: characteristic, completion: $0) } == "ATT 3")
    }

    @Test func `A request that cannot be is refused without the app`() async throws {
        let app = try await Peripheral.published()
        let central = CBMCentralSpec()
        central.simulateConnection()
        let stranger = CBMMutableCharacteristic(
            type: CBMUUID(string: "FF02"), properties: .read, value: nil, permissions: .readable)
        #expect(try await outcome { central.simulateReadRequest(for: stranger, completion: $0) } == "ATT 10")
        let other = CBMMutableService(type: CBMUUID(string: "FE00"), primary: true)
        let fixed = CBMMutableCharacteristic(
            type: CBMUUID(string: "FE01"), properties: .read, value: Data([5, 6]), permissions: .readable)
        let writable = CBMMutableCharacteristic(
            type: CBMUUID(string: "FE02"), properties: .write, value: nil, permissions: .writeable)
        other.characteristics = [fixed, writable]
        app.manager.add(other)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["added FE00"])
        #expect(try await outcome { central.simulateReadRequest(for: fixed, completion: $0) } == "5 6")
        #expect(try await outcome { central.simulateReadRequest(for: fixed, offset: 1, completion: $0) } == "6")
        #expect(try await outcome { central.simulateReadRequest(for: fixed, offset: 3, completion: $0) } == "ATT 7")
        #expect(try await outcome { central.simulateReadRequest(for: writable, completion: $0) } == "ATT 2")
        #expect(try await outcome { central.simulateReadRequest(for: writable, offset: 1, completion: $0) } == "ATT 2")
        #expect(try await outcome { central.simulateWriteRequest(Data(), for: fixed, completion: $0) } == "ATT 3")
        app.manager.remove(other)
        try await emulator.advance(by: .seconds(1))
        #expect(try await outcome { central.simulateReadRequest(for: fixed, completion: $0) } == "ATT 10")
        #expect(app.take() == [])
    }

    @Test func `A static value that is not read-only is refused`() async throws {
        let app = try await Peripheral.published()
        let service = CBMMutableService(type: CBMUUID(string: "FD00"), primary: true)
        service.characteristics = [
            CBMMutableCharacteristic(
                type: CBMUUID(string: "FD01"), properties: [.read, .write], value: Data(), permissions: .readable)
        ]
        app.manager.add(service)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["added FD00: CB \(CBMError.invalidParameters.rawValue)"])
    }

    @Test func `A subscriber is notified of what it has room for, and of as much as the queue takes`() async throws {
        let app = try await Peripheral.published()
        let central = CBMCentralSpec(maximumUpdateValueLength: 50, delegate: app)
        central.simulateConnection()
        central.simulateSubscription(to: app.characteristic)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["subscribed"])
        let subscriber = try #require(app.state.withLock { $0.centrals.first })
        #expect(subscriber.identifier == central.identifier && subscriber.maximumUpdateValueLength == 50)
        #expect(app.characteristic.subscribedCentrals == [subscriber] && app.characteristic.isNotifying)
        #expect(app.manager.updateValue(Data(count: 80), for: app.characteristic, onSubscribedCentrals: [subscriber]))
        try await emulator.advance(by: .seconds(1))
        #expect(app.take().filter { $0 != "ready" } == ["update 50"])
        let queued = (0..<30).count { _ in
            app.manager.updateValue(Data([1]), for: app.characteristic, onSubscribedCentrals: nil)
        }
        #expect(queued == 20)
        try await emulator.advance(by: .seconds(3))
        let lines = app.take()
        #expect(lines.contains("ready") && lines.count { $0 == "update 1" } == 20)
        app.manager.setDesiredConnectionLatency(.high, for: subscriber)
        #expect(central.desiredConnectionLatency == .high)
        central.simulateUnsubscription(from: app.characteristic)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["unsubscribed"] && !app.characteristic.isNotifying)
    }

    @Test func `A disconnection ends subscriptions, and so does the adapter's power`() async throws {
        let app = try await Peripheral.published()
        let central = CBMCentralSpec()
        for isOff in [false, true] {
            central.simulateConnection()
            central.simulateSubscription(to: app.characteristic)
            try await emulator.advance(by: .seconds(1))
            #expect(app.take().last == "subscribed")
            if isOff { CBMCentralManagerMock.simulatePowerOff() } else { central.simulateDisconnection() }
            try await emulator.advance(by: .seconds(5))
            #expect(!central.isConnected && app.characteristic.subscribedCentrals?.isEmpty != false)
            let read = try await outcome { central.simulateReadRequest(for: app.characteristic, completion: $0) }
            #expect(read == "CB 3")
        }
    }

    @Test func `Channels are published and withdrawn`() async throws {
        let app = try await Peripheral.published()
        app.manager.publishL2CAPChannel(withEncryption: false)
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["published channel"])
        app.manager.unpublishL2CAPChannel(1)
        app.manager.removeAllServices()
        try await emulator.advance(by: .seconds(1))
        #expect(app.take().count == 1)
    }

    @Test func `A restored service is the test's own object, and is published`() async throws {
        CBMCentralManagerMock.simulatePowerOn()
        let first = Peripheral { _ in CBMPeripheralManager(true) }
        CBMPeripheralManagerMock.simulateStateRestoration = { _ in
            [
                CBMPeripheralManagerRestoredStateServicesKey: [first.service],
                CBMPeripheralManagerRestoredStateAdvertisementDataKey: [CBMAdvertisementDataLocalNameKey: "Back"],
            ]
        }
        let app = Peripheral {
            CBMPeripheralManagerMock(
                delegate: $0, queue: nil, options: [CBMPeripheralManagerOptionRestoreIdentifierKey: "app"])
        }
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["restored 1", "state poweredOn"])
        #expect(app.state.withLock { $0.services.first } === first.service)
        let central = CBMCentralSpec()
        central.simulateConnection()
        #expect(
            try await outcome { central.simulateReadRequest(for: first.characteristic, completion: $0) } == "1 2 3")
    }

    @Test func `A factory makes a mock where the task has selected an emulator, and the base does nothing`() {
        #expect(CBMPeripheralManagerFactory.instance() is CBMPeripheralManagerMock)
        #expect(CBMPeripheralManagerFactory.instance(delegate: nil, queue: nil) is CBMPeripheralManagerMock)
        let base = CBMPeripheralManager(true)
        base.startAdvertising(nil)
        #expect(base.state == .unknown && !base.isAdvertising && base.authorization == .allowedAlways)
        let characteristic = CBMMutableCharacteristic(
            type: CBMUUID(string: "FF01"), properties: .notify, value: nil, permissions: [])
        #expect(!base.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
    }

    @Test func `After the tear-down a peripheral manager is without an adapter for good`() async throws {
        let app = try await Peripheral.published()
        CBMCentralManagerMock.tearDownSimulation()
        CBMCentralManagerMock.simulatePowerOn()
        try await emulator.advance(by: .seconds(1))
        #expect(app.manager.state == .unknown && app.take() == ["state unknown"])
    }

    @Test func `The proxy of a peripheral manager calls a closure for each method`() async throws {
        let proxy = CBMPeripheralManagerDelegateProxy()
        let calls = Protected<[String]>([])
        func note(_ line: String) { calls.withLock { $0.append(line) } }
        proxy.didUpdateState = { _ in note("state") }
        proxy.willRestoreState = { _, _ in note("restore") }
        proxy.didStartAdvertising = { _, _ in note("advertising") }
        proxy.didAddService = { _, _, _ in note("added") }
        proxy.didSubscribe = { _, _, _ in note("subscribed") }
        proxy.didUnsubscribe = { _, _, _ in note("unsubscribed") }
        proxy.didReceiveRead = { manager, request in
            note("read")
            manager.respond(to: request, withResult: .success)
        }
        proxy.isReadyToUpdateSubscribers = { _ in note("ready") }
        proxy.didPublishL2CAPChannel = { _, _, _ in note("published") }
        proxy.didUnpublishL2CAPChannel = { _, _, _ in note("unpublished") }
        proxy.didOpenChannel = { _, _, _ in note("opened") }
        CBMCentralManagerMock.simulatePowerOn()
        let app = Peripheral { _ in CBMPeripheralManagerMock(delegate: proxy, queue: nil) }
        try await emulator.advance(by: .seconds(1))
        app.manager.add(app.service)
        app.manager.startAdvertising(nil)
        app.manager.publishL2CAPChannel(withEncryption: false)
        let central = CBMCentralSpec()
        central.simulateConnection()
        central.simulateSubscription(to: app.characteristic)
        #expect(try await outcome { central.simulateReadRequest(for: app.characteristic, completion: $0) } == "")
        let write = try await outcome { central.simulateWriteRequest(Data(), for: app.characteristic, completion: $0) }
        #expect(write == "ATT 6")
        central.simulateUnsubscription(from: app.characteristic)
        try await emulator.advance(by: .seconds(1))
        proxy.peripheralManager(app.manager, willRestoreState: [:])
        proxy.peripheralManagerIsReady(toUpdateSubscribers: app.manager)
        proxy.peripheralManager(app.manager, didUnpublishL2CAPChannel: 1, error: nil)
        proxy.peripheralManager(app.manager, didOpen: nil, error: nil)
        #expect(
            Set(calls.withLock { $0 }) == [
                "state", "restore", "advertising", "added", "subscribed", "unsubscribed", "read", "ready", "published",
                "unpublished", "opened",
            ])
    }
}
