import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Controls of a running world, as an app's delegates see them.
@Suite(.emulator(.instant)) struct WorldControlTests {
    private struct Refusal: Error, Equatable { let number: Int }

    /// A handler that refuses every request, each with a different error.
    private struct Refusing: AsynchronousPeripheralHandler {
        let refusesConnects: Bool

        func respond(to request: ConnectionRequest) async -> ConnectionResponse {
            refusesConnects ? .failure(OpaqueError(Refusal(number: 1))) : .accepted
        }

        func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse {
            procedure.kind == .subscribe ? .failure(OpaqueError(Refusal(number: 2))) : .granted
        }

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            .failure(OpaqueError(Refusal(number: 3)))
        }
    }

    private static let device = PeripheralDescription(
        name: "Device", advertising: [AdvertisingDescription(AdvertisingData(localName: "Device"))],
        services: [ServiceDescription("180F", characteristics: [.init("2A19", [.read, .notify])])])

    @Test func anErrorObjectOfADeviceReachesTheDelegate() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(EmulatedPeripheral(Self.device, handler: Refusing(refusesConnects: false)))
        let app = PlainApp()
        await emulator.expectInAnyOrder(.didUpdateValue.failing, .didUpdateNotificationState.failing)
        #expect(app.errors.compactMap { $0 as? Refusal } == [Refusal(number: 3)])
        device.disconnect(with: OpaqueError(Refusal(number: 4)))
        await emulator.expect(.didDisconnectPeripheral.failing)
        #expect(app.disconnections.map { $0 as? Refusal } == [Refusal(number: 4)])
        app.stop()
    }

    @Test func aDeviceRefusesAConnectWithItsOwnError() async throws {
        let emulator = Emulator.current
        try emulator.add(EmulatedPeripheral(Self.device, handler: Refusing(refusesConnects: true)))
        let app = PlainApp()
        let failure = await emulator.expect(.didFailToConnect)
        #expect(failure?.error as? Refusal == Refusal(number: 1))
        app.stop()
    }

    @Test func aNewNameAndAShownStateAreReported() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(Self.device)
        let app = PlainApp()
        await emulator.expect(.didUpdateNotificationState)
        device.rename("Renamed", isAnnounced: true)
        await emulator.expect(.didUpdateName)
        emulator.host.setState(.resetting)
        await emulator.expect(.didUpdateState)
        #expect(emulator.host.state == .resetting)
        app.stop()
    }

    @Test func managersOfOneHostAreOneDevice() async throws {
        let emulator = Emulator.current
        #expect(Emulator.selected === emulator)
        let phone = try emulator.add(HostDescription(name: "phone"))
        let servers = CBManager.withBackend(.emulator(host: phone)) {
            #expect(Emulator.selected === emulator)
            return [ServerApp(), ServerApp()]
        }
        await emulator.expect(.didStartAdvertising, .didStartAdvertising)
        #expect(emulator.hosts.map(\.name) == ["default", "phone"])
        let app = PlainApp()
        await emulator.expect(.didUpdateNotificationState, .didUpdateNotificationState)
        #expect(app.services == 2)
        #expect(app.identifier == phone.peripheral?.identifier()?.uuid)
        app.stop()
        for server in servers { server.stop() }
    }

    @Test func withoutASelectionThereIsNoSelectedEmulator() async {
        await Task.detached { #expect(Emulator.selected == nil) }.value
    }
}
