import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

#if Emulator
import BluetoothEmulator
#endif

@Suite struct BackendResolverTests {
    private func environment(_ variables: [String: String]) -> SelectionEnvironment {
        SelectionEnvironment(variables)
    }

    @Test func anEmptyVariableIsAnAbsentOne() {
        let empty = environment(["CI": "", "COREBLUETOOTH_BACKEND": "", "COREBLUETOOTH_ADAPTER": ""])
        #expect(empty.continuousIntegration.evidence == nil && !empty.continuousIntegration.isDoubtful)
        #expect(empty.backend == nil && empty.unknownBackend == nil)
        #expect(empty.adapter == nil)
    }

    @Test func anUnknownBackendIsReportedAndNotTakenForAnother() {
        let wrong = environment(["COREBLUETOOTH_BACKEND": "mock"])
        #expect(wrong.backend == nil)
        #expect(wrong.unknownBackend == "mock")
    }

    @Test func theTaskGoesBeforeTheEnvironment() {
        let backend = ScriptedBackend()
        CBManager.withBackend(.custom(backend)) {
            let chosen = BackendResolver.backend(environment: environment(["COREBLUETOOTH_BACKEND": "bluez"]))
            #expect(chosen as? ScriptedBackend === backend)
        }
    }

    @Test func theInitializerGoesBeforeTheTask() {
        let backend = ScriptedBackend()
        let other = ScriptedBackend()
        let manager = CBManager.withBackend(.custom(other)) {
            CBCentralManager(backend: .custom(backend), delegate: nil, queue: nil)
        }
        #expect(backend.centrals.count == 1)
        #expect(other.centrals.isEmpty)
        withExtendedLifetime(manager) {}
    }

    @Test func theTaskLocalReachesChildTasks() async {
        let backend = ScriptedBackend()
        await CBManager.withBackend(.custom(backend)) {
            async let name = CBCentralManager(delegate: nil, queue: nil).backendName
            #expect(await name == "scripted")
        }
    }

    @Test func theEnvironmentOverridesTheDefaultAndTheLogSaysSoOnce() {
        LogCapture.start()
        let own = CBBackendSelection.custom(ScriptedBackend())
        for _ in 0..<2 {
            let chosen = BackendResolver.backend(
                environment: environment(["COREBLUETOOTH_BACKEND": "emulator"]), default: own)
            #expect(chosen.name == "emulator")
        }
        let lines = LogCapture.lines(containing: "overrides CBManager.defaultBackend")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("CoreBluetooth notice COREBLUETOOTH_BACKEND=emulator overrides") == true)
        #expect(BackendResolver.backend(environment: environment([:]), default: own).name == "scripted")
    }

    @Test func theEnvironmentNamesTheBackend() {
        #expect(BackendResolver.backend(environment: environment(["COREBLUETOOTH_BACKEND": "bluez"])).name == "bluez")
        #expect(
            BackendResolver.backend(environment: environment(["COREBLUETOOTH_BACKEND": "emulator"])).name
                == "emulator")
        #expect(
            BackendResolver.backend(environment: environment(["COREBLUETOOTH_BACKEND": "auto"]))
                is AutomaticBackend)
        #expect(BackendResolver.backend(environment: environment([:])) is AutomaticBackend)
    }

    #if Emulator
    @Test func forceMockBeatsAll() {
        let backend = ScriptedBackend()
        let manager = CBManager.withBackend(.custom(backend)) {
            CBCentralManagerFactory.instance(delegate: nil, queue: .global(), forceMock: true)
        }
        #expect(manager.backendName == "emulator")
        #expect(backend.centrals.isEmpty)
        let peripheralManager = CBPeripheralManagerFactory.instance(queue: .global(), forceMock: true)
        #expect(peripheralManager.backendName == "emulator")
    }

    @Test func aWorldThatCannotBeReadIsAnUnpluggedAdapterAndNoOtherWorld() async {
        let emulator = Emulator.shared(worldFile: "/nowhere/world.json")
        let recorder = CallbackRecorder()
        var manager: CBCentralManager?
        let state = await withCheckedContinuation { continuation in
            recorder.onEach { continuation.resume(returning: $0) }
            manager = CBCentralManager(
                backend: .emulator(emulator), delegate: recorder, queue: DispatchQueue(label: "no world"))
        }
        withExtendedLifetime(manager) {}
        #expect(state == "state unsupported" && emulator.devices.isEmpty)
    }

    @Test func theSharedEmulatorHasTheWorldThatTheEnvironmentNames() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try WorldDescription(devices: [PeripheralDescription(name: "Lamp")]).json().write(to: file)
        #expect(Emulator.shared(worldFile: file.path).devices.map(\.name) == ["Lamp"])
        #expect(Emulator.shared(worldFile: nil).devices.count == Emulator.shared.devices.count)
    }
    #endif
}
