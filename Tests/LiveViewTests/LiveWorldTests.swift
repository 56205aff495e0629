import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator
@testable import LiveView

private final class IgnoringSink: EventSink {
    let label = "live view tests"

    func deliver(_ event: PeripheralEvent) {}
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// The questions and commands of the control protocol.
@Suite final class LiveWorldTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "live-\(UUID())").path
    private let emulator: Emulator
    private let world: LiveWorld

    init() throws {
        let description = WorldDescription(
            devices: [BuiltInHandler.heartRate.device.named("Heart"), PeripheralDescription(name: "Tag")],
            preset: .instant)
        emulator = try Emulator(world: description, time: .virtual)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        world = LiveWorld(emulator, file: "heart.yaml", clock: WorldClock(emulator), directory: directory)
    }

    deinit {
        #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: directory) }
    }

    private func get<Answer: Decodable>(
        _ path: String, query: [String: String] = [:], as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await bytes(LiveRequest("GET", path, query: query)))
    }

    private func bytes(_ request: LiveRequest) async throws -> Data {
        switch try await world.answer(request) {
        case .json(let data), .document(let data, _, _): return data
        case .file(let file, _, _): return try Data(contentsOf: URL(fileURLWithPath: file))
        case .events: throw LiveError(500, "endless")
        }
    }

    @discardableResult
    private func command(_ method: String, _ path: String, _ body: String = "{}") async throws -> LiveResult {
        let data = try await bytes(LiveRequest(method, path, body: Data(body.utf8)))
        return try JSONDecoder().decode(LiveResult.self, from: data)
    }

    private func refusal(_ method: String, _ path: String, _ body: String = "{}") async -> LiveError? {
        await #expect(throws: LiveError.self) { try await command(method, path, body) }
    }

    private var heart: EmulatedDevice { emulator.devices[0] }
    private var path: String { "/v1/devices/\(heart.number)" }

    @Test func theStateNamesHostsAndDevices() async throws {
        let state: LiveState = try await get("/v1/world")
        #expect(state.hosts.map(\.name) == ["default"])
        #expect(state.devices.map(\.name) == ["Heart", "Tag"])
        #expect(state.file == "heart.yaml")
        #expect(state.clock == LiveClock(isOurs: true, isPaused: false, rate: 1))
    }

    @Test func aDeviceIsMovedRenamedAndSilenced() async throws {
        let before: LiveState = try await get("/v1/world")
        let body = #"{"proximity":"far","rssi":-90,"name":"Strap","advertising":false,"parameters":{"heartRate":180}}"#
        let result = try await command("PATCH", path, body)
        #expect(result.sequence > before.sequence)
        let state: LiveState = try await get("/v1/world")
        let device = try #require(state.devices.first)
        #expect([device.name, device.proximity] == ["Strap", "far"])
        #expect(device.rssi == -90)
        #expect(!device.isAdvertising)
        #expect(heart.presentDescription?.parameters[.heartRate] == 180)
        try await command("PATCH", path, #"{"rssi":null}"#)
        #expect(heart.presentDescription?.rssi == nil)
    }

    @Test func aValueIsStoredAndShownWithItsMeaning() async throws {
        try await command("POST", path + "/values", #"{"characteristic":"2A38","value":"02"}"#)
        let details: DeviceDetails = try await get(path)
        let service = try #require(details.services.first { $0.uuid == "180D" })
        let location = try #require(service.characteristics.first { $0.uuid == "2A38" })
        #expect(service.name == "Heart Rate")
        #expect(location.value == "02")
        #expect(location.meaning == "wrist")
        #expect(details.parameters.contains { $0.name == "heartRate" && $0.maximum == 65_535 })
    }

    @Test func aNumberIsStoredInTheTypeOfItsCharacteristic() async throws {
        try await command("POST", path + "/values", #"{"characteristic":"2A37","number":120}"#)
        try await command("POST", path + "/values", #"{"characteristic":"2A38","number":2}"#)
        try await command("POST", path + "/values", #"{"characteristic":"2A29","text":"Mäker"}"#)
        let details: DeviceDetails = try await get(path)
        let found = details.services.flatMap(\.characteristics)
        #expect(found.first { $0.uuid == "2A37" }?.meaning?.hasPrefix("120 bpm") == true)
        #expect(found.first { $0.uuid == "2A38" }?.meaning == "wrist")
        #expect(found.first { $0.uuid == "2A29" }?.editor.text == "Mäker")
        #expect(found.first { $0.uuid == "2A37" }?.editor.unit == "bpm")
        #expect(found.first { $0.uuid == "2A37" }?.propertyTexts == ["notify"])
    }

    @Test func aFaultIsRemovedByItself() async throws {
        try await command("POST", path + "/faults", #"{"step":"read","what":"pause","always":true}"#)
        try await command("POST", path + "/faults", #"{"step":"write","what":"fail","code":128,"count":3}"#)
        var details: DeviceDetails = try await get(path)
        #expect(
            details.faultTexts == [
                "Every read hangs until resumed", "The next 3 writes fail with ATT error 0x80",
            ])
        try await command("DELETE", path + "/faults", #"{"step":"write","what":"fail","code":128}"#)
        details = try await get(path)
        #expect(details.faults.map(\.step) == [.read])
        try await command("DELETE", path + "/faults", #"{"step":"read","what":"pause"}"#)
        details = try await get(path)
        #expect(details.faults == [])
        let source = String(decoding: try await bytes(LiveRequest("GET", "/v1/test.swift")), as: UTF8.self)
        #expect(source.contains("removeFault(DeviceFault(.read, .pause, skip: 0, count: 1))"), "\(source)")
    }

    @Test func aFaultOfAnAnswerIsAddedAndOneThatDoesNotApplyIsRefused() async throws {
        try await command("POST", path + "/faults", #"{"step":"write","what":"delayAnswer","time":"2 s"}"#)
        try await command("POST", path + "/faults", #"{"step":"write","what":"loseAnswer"}"#)
        let details: DeviceDetails = try await get(path)
        #expect(
            details.faultTexts == [
                "The next write is performed, but the answer comes 2 s late",
                "The next write is performed, but the answer is lost with the link",
            ])
        let source = String(decoding: try await bytes(LiveRequest("GET", "/v1/test.swift")), as: UTF8.self)
        #expect(source.contains("(DeviceFault(.write, .delayAnswer(.nanoseconds(2000000000)), skip: 0, count: 1))"))
        #expect(source.contains("inject(DeviceFault(.write, .loseAnswer, skip: 0, count: 1))"), "\(source)")
        let error = await refusal("POST", path + "/faults", #"{"step":"write","what":"corrupt"}"#)
        #expect(error?.path == "what")
        #expect(error?.rule == "write returns no value")
    }

    @Test func theAdvertisingIntervalIsChangedAndItsContentIsShown() async throws {
        try await command("PATCH", path, #"{"advertisingInterval":0.5}"#)
        let details: DeviceDetails = try await get(path)
        let set = try #require(details.advertising.first)
        #expect(set.interval == 0.5)
        #expect(set.packet.services.contains { $0.name == "Heart Rate" })
        let error = await refusal("PATCH", path, #"{"advertisingInterval":60}"#)
        #expect(error?.path == "advertisingInterval")
        #expect(error?.rule == "the advertising interval is 20 ms...10.24 s, or 0")
        let data = AdvertisingData(manufacturerData: Data([0x99, 0x04, 0x05]))
        let tag = try emulator.add(PeripheralDescription(name: "Ruuvi", advertising: [AdvertisingDescription(data)]))
        let other: DeviceDetails = try await get("/v1/devices/\(tag.number)")
        let manufacturer = other.advertising.first?.packet.manufacturer
        #expect(manufacturer?.company == "0499")
        #expect(manufacturer?.name == "Ruuvi Innovations Ltd.")
        #expect(manufacturer?.data == "05")
    }

    @Test func theKeysOfADeviceAreShownAndLost() async throws {
        emulator.host.bond(with: heart)
        try await emulator.advance(by: .zero)
        var details: DeviceDetails = try await get(path)
        #expect(details.bonds == [DeviceDetails.Bond(host: 0, isAuthenticated: true)])
        #expect(details.pairing == "has no display and no keyboard, and its user accepts pairings")
        emulator.host.removeBond(with: heart)
        try await command("DELETE", path + "/keys")
        details = try await get(path)
        #expect(details.bonds == [])
        #expect(await refusal("GET", path + "/keys")?.status == 404)
    }

    @Test func theVocabularyHasTheWordsOfTheCommandLine() async throws {
        let vocabulary: Vocabulary = try await get("/v1/vocabulary")
        #expect(vocabulary.states.first { $0.name == "poweredOn" }?.words == "on")
        #expect(vocabulary.permissions.map(\.name) == ["allowed", "denied", "restricted", "notDetermined"])
        #expect(vocabulary.steps.count == DeviceFault.Step.allCases.count)
        #expect(vocabulary.effects.map(\.name) == DeviceFault.EffectName.allCases.map(\.rawValue))
        #expect(vocabulary.effects.first { $0.name == "corrupt" }?.steps == ["read", "notify"])
        #expect(vocabulary.effects.first { $0.name == "delay" }?.words == "comes late")
        #expect(vocabulary.errors.first { $0.code == 5 }?.words == "ATT error 0x05: Authentication is insufficient.")
    }

    @Test func aDescriptorIsChangedAndShown() async throws {
        let device = try emulator.add(PeripheralDescription(name: "Box", services: [Self.described]))
        let path = "/v1/devices/\(device.number)"
        try await command("POST", path + "/values", #"{"characteristic":"FFF1","descriptor":"2901","value":"4142"}"#)
        let details: DeviceDetails = try await get(path)
        let found = try #require(details.services.first { $0.uuid == "FFF0" }?.characteristics.first)
        #expect(found.value == "01")
        #expect(found.descriptors.first { $0.uuid == "2901" }?.value == "4142")
        #expect(
            emulator.presentWorld.devices.last?.services[0].characteristics[0].descriptors[0].value == Data("AB".utf8))
        let source = String(decoding: try await bytes(LiveRequest("GET", "/v1/test.swift")), as: UTF8.self)
        let line = #".setValue(Data([65, 66]), ofDescriptor: "2901", of: CharacteristicPath("FFF1"))"#
        #expect(source.contains(line), "\(source)")
    }

    private static let described = ServiceDescription(
        "FFF0",
        characteristics: [
            CharacteristicDescription(
                "FFF1", [.read, .notify], value: Data([1]), descriptors: [.init("2901", value: Data())])
        ])

    @Test(arguments: [
        (#""descriptor":"2904","value":"00""#, "descriptor", "the characteristic FFF1 has no descriptor 2904"),
        (#""descriptor":"2902","value":"0100""#, "descriptor", "each central has a 2902 of its own"),
        (#""descriptor":"x","value":"00""#, "descriptor", "\"x\" is no UUID"),
        (#""descriptor":"2901","value":"00","notify":true"#, "notify", "only values of characteristics are notified"),
        (
            #""descriptor":"2901","value":""# + String(repeating: "00", count: 513) + "\"", "value",
            "a value has at most 512 bytes, not 513"
        ),
    ])
    func aMistakeAboutADescriptorNamesItsField(fields: String, field: String, rule: String) async throws {
        let device = try emulator.add(PeripheralDescription(name: "Box", services: [Self.described]))
        let body = #"{"characteristic":"FFF1","# + fields + "}"
        let error = await refusal("POST", "/v1/devices/\(device.number)/values", body)
        #expect(error?.status == 400 && error?.path == field)
        #expect(error?.rule == rule)
        #expect(device.value(ofDescriptor: "2901", of: "FFF1") == Data())
    }

    @Test func faultsAreAddedShownAndCleared() async throws {
        try await command("POST", path + "/faults", #"{"step":"write","what":"fail","code":128}"#)
        var details: DeviceDetails = try await get(path)
        #expect(details.faults == [DeviceFault(.write, .fail(ATTCode(rawValue: 128)))])
        try await command("DELETE", path + "/faults")
        details = try await get(path)
        #expect(details.faults == [])
        try await command("POST", path + "/resume")
    }

    @Test func aHostIsSwitchedOffUnpluggedAndForbidden() async throws {
        try await command("PATCH", "/v1/hosts/0", #"{"powered":false}"#)
        #expect(emulator.host.state == .poweredOff)
        try await command("PATCH", "/v1/hosts/0", #"{"powered":true,"plugged":false}"#)
        #expect(emulator.host.state == .unsupported)
        try await command("PATCH", "/v1/hosts/0", #"{"plugged":true,"authorization":"denied"}"#)
        #expect(emulator.host.state == .unauthorized)
        try await command("PATCH", "/v1/hosts/0", #"{"authorization":"allowed"}"#)
        try await command("POST", "/v1/hosts/0/reset")
        #expect(emulator.host.state == .resetting)
    }

    @Test func anotherAppConnectsAndTheDeviceDisconnects() async throws {
        try await command("POST", path + "/connect", #"{"host":0}"#)
        try await command("POST", "/v1/time", #"{"step":2}"#)
        var state: LiveState = try await get("/v1/world")
        #expect(state.links.map(\.device) == [heart.number])
        #expect(state.devices[0].links == 1)
        try await command("POST", path + "/disconnect", #"{"silent":false}"#)
        try await command("POST", "/v1/time", #"{"step":2}"#)
        state = try await get("/v1/world")
        #expect(state.links == [])
    }

    @Test func devicesAreAddedAndRemoved() async throws {
        let added = try await command("POST", "/v1/devices", #"{"name":"New","rssi":-50}"#)
        #expect(emulator.device(number: try #require(added.id))?.name == "New")
        try await command("DELETE", "/v1/devices/\(try #require(added.id))")
        #expect(emulator.device(named: "New") == nil)
        let mistake = await refusal("POST", "/v1/devices", #"{"name":"New","rssi":-500}"#)
        #expect(mistake?.status == 400)
        #expect(mistake?.path == "rssi")
        #expect(await refusal("POST", "/v1/devices", #"{"name":"Heart"}"#)?.status == 400)
    }

    @Test func timeIsSteppedPausedAndAccelerated() async throws {
        try await command("POST", "/v1/time", #"{"paused":true,"rate":10,"step":1.5}"#)
        #expect(emulator.now == .milliseconds(1500))
        let state: LiveState = try await get("/v1/world")
        #expect(state.clock == LiveClock(isOurs: true, isPaused: true, rate: 10))
        #expect(await refusal("POST", "/v1/time", #"{"rate":1000}"#)?.path == "rate")
        #expect(await refusal("POST", "/v1/time", #"{"step":-1}"#)?.path == "step")
    }

    @Test func theTimeOfOthersIsNotOurs() async throws {
        let real = LiveWorld(Emulator(), file: nil, clock: nil, directory: "/nonexistent")
        let error = await #expect(throws: LiveError.self) {
            _ = try await real.answer(LiveRequest("POST", "/v1/time", body: Data(#"{"paused":true}"#.utf8)))
        }
        #expect(error?.status == 409)
        let failure = await #expect(throws: LiveError.self) {
            _ = try await real.answer(LiveRequest("PATCH", "/v1/capture", body: Data(#"{"running":true}"#.utf8)))
        }
        #expect(failure?.rule.contains("/nonexistent/capture.pcapng") == true)
    }

    @Test(arguments: [
        ("PATCH", #"{"proximity":"beside"}"#, "proximity"), ("PATCH", #"{"rssi":21}"#, "rssi"),
        ("PATCH", #"{"rssi":"x"}"#, "rssi"), ("PATCH", #"{"name":""}"#, "name"), ("PATCH", #"{"color":1}"#, "color"),
        ("PATCH", #"{"parameters":{"speed":1}}"#, "parameters.speed"), ("PATCH", "[]", ""), ("PATCH", "{}", ""),
        ("PATCH", "{", ""), ("PATCH", #"{"advertising":"yes"}"#, "advertising"),
        ("POST", #"{"characteristic":"2A99","value":""}"#, "characteristic"),
        ("POST", #"{"characteristic":"xyz","value":""}"#, "characteristic"),
        ("POST", #"{"value":"00"}"#, "characteristic"),
        ("POST", #"{"characteristic":"2A38","value":"0"}"#, "value"),
        ("POST", #"{"characteristic":"2A38"}"#, "value"),
        ("POST", #"{"characteristic":"2A38","number":9}"#, "number"),
        ("POST", #"{"characteristic":"2A29","number":1}"#, "number"),
        ("POST", #"{"characteristic":"2A37","number":70000}"#, "number"),
        ("POST", #"{"characteristic":"2A38","number":1,"text":"x"}"#, "number"),
    ])
    func aMistakeNamesItsField(method: String, body: String, field: String) async {
        let error = await refusal(method, method == "PATCH" ? path : path + "/values", body)
        #expect(error?.status == 400)
        #expect(error?.path == field)
    }

    @Test(arguments: [
        ("GET", "/v2/world"), ("GET", "/"), ("GET", "/v1/worlds"), ("PUT", "/v1/world"), ("GET", "/v1/devices/99"),
        ("PATCH", "/v1/devices/x"), ("POST", "/v1/devices/1/fly"), ("PATCH", "/v1/hosts/9"),
        ("POST", "/v1/hosts/0/fly"),
        ("GET", "/v1/devices/1/../../world"),
    ])
    func anUnknownPathIsNotFound(method: String, path: String) async {
        #expect(await refusal(method, path)?.status == 404)
    }

    @Test func whatAHostPublishesIsChangedByItsAppsAlone() async throws {
        let manager = emulator.makePeripheral(RoleOptions(adapter: "default"))
        manager.activate(IgnoringSink())
        defer { manager.invalidate() }
        try await emulator.advance(by: .seconds(1))
        manager.submit(
            .startAdvertising(operation: OperationID(rawValue: 1), advertisement: Advertisement(localName: "App")))
        try await emulator.advance(by: .seconds(1))
        let published = try #require(emulator.host.peripheral)
        #expect(await refusal("DELETE", "/v1/devices/\(published.number)")?.status == 409)
        #expect(await refusal("PATCH", "/v1/devices/\(published.number)", #"{"name":"X"}"#)?.status == 409)
        let advertising = await refusal("PATCH", "/v1/devices/\(published.number)", #"{"advertising":false}"#)
        #expect(advertising?.status == 409)
        let value = #"{"characteristic":"2A00","value":"41"}"#
        #expect(await refusal("POST", "/v1/devices/\(published.number)/values", value)?.status == 409)
    }

    @Test func theCaptureIsSwitchedOnAndKept() async throws {
        #expect(await refusal("GET", "/v1/capture.pcapng")?.status == 409)
        try await command("PATCH", "/v1/capture", #"{"running":true}"#)
        try await command("POST", path + "/connect", #"{"host":0}"#)
        try await command("POST", "/v1/time", #"{"step":2}"#)
        try await command("PATCH", "/v1/capture", #"{"running":false}"#)
        let state: LiveState = try await get("/v1/world")
        #expect(state.capture.isRunning == false)
        #expect(state.capture.packets > 0)
        let file = try await bytes(LiveRequest("GET", "/v1/capture.pcapng"))
        #expect(Array(file.prefix(4)) == [0x0A, 0x0D, 0x0D, 0x0A])
    }

    @Test func theWorldAndTheTraceAreKept() async throws {
        try await command("PATCH", path, #"{"proximity":"far"}"#)
        let file = try await bytes(LiveRequest("GET", "/v1/world.json"))
        #expect(try WorldDescription(json: file) == emulator.presentWorld)
        for format in ["text", "jsonl", "mermaid", "perfetto", "html"] {
            let trace = try await bytes(LiveRequest("GET", "/v1/trace", query: ["format": format]))
            #expect(!trace.isEmpty)
        }
        #expect(await refusal("GET", "/v1/trace?format=odd") != nil)
    }

    @Test func whatWasDoneByHandIsATest() async throws {
        try await command("PATCH", path, #"{"proximity":"far","name":"A \"B\" \\(c)"}"#)
        try await command("POST", "/v1/time", #"{"step":1}"#)
        try await command("POST", "/v1/devices", "{\"name\":\n\"Twin\"}")
        try await command("POST", path + "/values", #"{"characteristic":"2A38","service":"180D","value":"02"}"#)
        try await command("PATCH", "/v1/hosts/0", #"{"powered":false}"#)
        let source = String(decoding: try await bytes(LiveRequest("GET", "/v1/test.swift")), as: UTF8.self)
        let expected = ##"""
            import BluetoothEmulator
            import Foundation
            import Testing

            // Tests read JSON: bluectl world convert heart.yaml > heart.json
            @Test func whatWasDoneByHand() async throws {
                let emulator = try Emulator(worldFile: "heart.json", time: .virtual, seed: 1)
                try #require(emulator.device(named: "Heart")).setProximity(.far)
                try #require(emulator.device(named: "Heart")).rename("A \"B\" \\(c)")
                try await emulator.advance(by: .nanoseconds(1000000000))
                try emulator.add(PeripheralDescription(json: Data(#"{"name": "Twin"}"#.utf8)))
                try #require(emulator.device(named: "A \"B\" \\(c)")).setValue(Data([2]), of: CharacteristicPath("2A38", service: "180D"))
                emulator.host.setPower(false)
                try await emulator.advance(by: .zero)
                // Use your app here, and check what it shows.
            }

            """##
        #expect(source == expected)
    }
}
