import CoreBluetooth

/// A peripheral of a simulated world.
///
/// Two are equal if they are the same object; `hash` depends on the identifier.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMPeripheralMock: CBMWrappedPeripheral {
    /// The progress of a change of the services.
    private struct ChangeProgress {
        var number: Int
        var parts = 0
        var gone: [CBMService] = []
        /// Whether removals are still to come.
        var isUnderWay = false
        /// Whether a new name must be reported after them.
        var isNameHeld = false
    }

    private let world: MockWorld
    /// The selection of the world, in which callbacks run.
    private let selection: CBBackendSelection?
    private let progress: Protected<ChangeProgress>

    init(_ peripheral: CBPeripheral, of manager: CBMCentralManagerMock, in world: MockWorld) {
        self.world = world
        selection = world.emulator.map { .emulator($0) }
        let device = world.device(of: peripheral.identifier)
        progress = Protected(ChangeProgress(number: device?.serviceChangeCount ?? 0))
        super.init(peripheral, of: manager, identifier: world.identifier(of: peripheral.identifier))
    }

    private var device: SpecDevice? { world.device(of: wrapped.identifier) }

    override func receive(_ callback: PeripheralCallback) {
        switch callback {
        case .servicesModified(let gone): completeChange(gone).forEach(pass)
        case .nameUpdated:
            let isHeld = progress.withLock { progress in
                progress.isNameHeld = progress.isUnderWay
                return progress.isNameHeld
            }
            if !isHeld { pass(callback) }
        case .rssiRead(let rssi, nil):
            pass(.rssiRead((manager as? CBMCentralManagerMock)?.varied(rssi) ?? rssi, nil))
        case .notificationStateUpdated(let characteristic, let error):
            pass(callback)
            callDelegateOfSpec(characteristic, error)
        default: pass(callback)
        }
    }

    /// Calls the app's delegate, in the selection of the world.
    private func pass(_ callback: PeripheralCallback) {
        // Avoids the world, whose reference to the emulator is weak: a load of it takes longer than the callback.
        guard let selection else { return super.receive(callback) }
        CBManager.withBackend(selection) { super.receive(callback) }
    }

    /// Begins to follow changes of the services, because a link is up.
    func linked() {
        let count = device?.serviceChangeCount ?? 0
        progress.withLock { $0 = ChangeProgress(number: count) }
    }

    /// Joins the parts of a change of the services, so that the app receives it once, with the last removal, and a new
    /// name after it.
    private func completeChange(_ gone: [CBMService]) -> [PeripheralCallback] {
        let device = device
        return progress.withLock { progress in
            guard let change = device?.serviceChange(progress.number) else { return [.servicesModified(gone)] }
            progress.parts += 1
            progress.gone += gone
            progress.isUnderWay = progress.parts < max(1, change.removals)
            let isLastRemoval = progress.parts == max(1, change.removals)
            let (all, isNameHeld) = (progress.gone, progress.isNameHeld)
            if isLastRemoval { progress.isNameHeld = false }
            if progress.parts == change.count { progress = ChangeProgress(number: progress.number + 1) }
            guard isLastRemoval else { return [] }
            return isNameHeld ? [.servicesModified(all), .nameUpdated] : [.servicesModified(all)]
        }
    }

    private func callDelegateOfSpec(_ characteristic: CBMCharacteristic, _ error: (any Error)?) {
        guard let spec = device?.spec, let delegate = spec.connectionDelegate,
            let server = (characteristic as? WrappedCharacteristic)?.server
        else { return }
        world.enqueueHook { delegate.peripheral(spec, didUpdateNotificationStateFor: server, error: error) }
    }

    override func server(of service: CBService, in parent: WrappedService?) -> CBMServiceMock? {
        if let parent {
            return parent.server?.includedMocks.counterpart(of: service, among: parent.wrapped.includedServices ?? [])
        }
        return device?.layout.primaries.counterpart(of: service, among: wrapped.services ?? [])
    }

    /// A hash of the identifier.
    open override var hash: Int { identifier.hashValue }

    /// A text with identifier, mtu and state.
    open override var debugDescription: String {
        let mtu = wrapped.value(forKey: "mtuLength") as? Int ?? 23
        return "<CBMPeripheralMock: identifier = \(identifier), mtu = \(mtu), state = \(state)>"
    }
}
