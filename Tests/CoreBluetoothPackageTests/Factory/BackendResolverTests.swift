import BluetoothBackend
import LogCapture
import Testing

@testable import CoreBluetoothPackage

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

    @Test func anUnknownBackendIsToldAndNotTakenForAnother() {
        let wrong = environment(["COREBLUETOOTH_BACKEND": "mock"])
        #expect(wrong.backend == nil)
        #expect(wrong.unknownBackend == "mock")
    }

    @Test func theTaskGoesBeforeTheEnvironment() {
        let radio = ScriptedRadio()
        CBManager.withBackend(.custom(radio)) {
            let chosen = BackendResolver.backend(environment: environment(["COREBLUETOOTH_BACKEND": "bluez"]))
            #expect(chosen as? ScriptedRadio === radio)
        }
    }

    @Test func theInitializerGoesBeforeTheTask() {
        let radio = ScriptedRadio()
        let other = ScriptedRadio()
        let manager = CBManager.withBackend(.custom(other)) {
            CBCentralManager(backend: .custom(radio), delegate: nil, queue: nil)
        }
        #expect(radio.centrals.count == 1)
        #expect(other.centrals.isEmpty)
        withExtendedLifetime(manager) {}
    }

    @Test func theTaskLocalReachesChildTasks() async {
        let radio = ScriptedRadio()
        await CBManager.withBackend(.custom(radio)) {
            async let name = CBCentralManager(delegate: nil, queue: nil).backendName
            #expect(await name == "scripted")
        }
    }

    @Test func theEnvironmentOverridesTheDefaultAndTheLogSaysSoOnce() {
        LogCapture.start()
        let own = CBBackendSelection.custom(ScriptedRadio())
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

    @Test func theEnvironmentNamesTheRadio() {
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
        let radio = ScriptedRadio()
        let manager = CBManager.withBackend(.custom(radio)) {
            CBCentralManagerFactory.instance(delegate: nil, queue: .global(), forceMock: true)
        }
        #expect(manager.backendName == "emulator")
        #expect(radio.centrals.isEmpty)
        let peripheralManager = CBPeripheralManagerFactory.instance(queue: .global(), forceMock: true)
        #expect(peripheralManager.backendName == "emulator")
    }

    @Test func aWorldThatCannotBeReadIsNoRadioAndNoOtherWorld() async {
        let radio = BackendResolver.emulator(environment(["COREBLUETOOTH_WORLD": "/nowhere/world.json"]))
        let recorder = CallbackRecorder()
        let manager = CBCentralManager(backend: .custom(radio), delegate: recorder, queue: .global())
        await withCheckedContinuation { continuation in
            manager.core.afterDelivery { continuation.resume() }
        }
        #expect(manager.state == .unsupported)
    }
    #endif
}
