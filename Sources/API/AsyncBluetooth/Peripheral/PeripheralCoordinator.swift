import BluetoothSupport
import CoreBluetooth

/// Connects a `Peripheral` with its `CBPeripheral`, whose delegate it is.
///
/// The state is under one lock. Calls of CoreBluetooth are made outside it, in the order of the changes that led to
/// them, by one thread at a time; tasks are resumed outside it, too.
final class PeripheralCoordinator: NSObject, Sendable {
    let identifier: UUID
    let handle: CentralHandle
    private let state: LockedState<PeripheralState>

    init(_ object: Unchecked<CBPeripheral>, _ handle: CentralHandle) {
        identifier = object.value.identifier
        self.handle = handle
        state = LockedState(PeripheralState(object.value))
        super.init()
        object.value.delegate = self
    }

    // MARK: Changes

    /// Reads or changes the state, without consequences outside the lock.
    func withState<Result>(_ body: (inout PeripheralState) -> Result) -> Result {
        state.withLock(body)
    }

    /// Changes the state, then performs the resulting calls and resumes the resulting tasks.
    func transition<Result>(_ body: (inout PeripheralState) -> Result) -> Result {
        state.transition(body) { submit($0) }
    }

    private func submit(_ order: PeripheralState.Order) {
        switch order {
        case .connect: connect()
        case .cancel:
            log.debug(.connection, "disconnect \(identifier)", context)
            handle.manager.value.cancelPeripheralConnection(object)
        case .command(let command):
            // A link that has ended since then completes the command with its callback, which is on the way.
            let object = object
            if object.state == .connected { command.submit(object) }
        }
    }

    private func connect() {
        guard let object = livingObject() else {
            return transition { state in
                state.failConnects(.unknownPeripheral)
                if state.connecting.isClosing { state.endClosing() }
            }
        }
        log.debug(.connection, "connect \(identifier)", context)
        handle.manager.value.connect(object)
    }

    /// Returns the object; if CoreBluetooth has invalidated it, another one for the same device.
    private func livingObject() -> CBPeripheral? {
        let (object, isStale) = withState { ($0.object, $0.isStale) }
        guard isStale || !object.isCurrent else { return object }
        guard let new = handle.manager.value.retrievePeripherals(withIdentifiers: [identifier]).first else {
            return nil
        }
        replaceObject(with: Unchecked(new))
        return new
    }

    /// Continues with the object that CoreBluetooth created after it invalidated the present one.
    func replaceObject(with new: Unchecked<CBPeripheral>) {
        let old = withState { state -> CBPeripheral? in
            guard state.object !== new.value else { return nil }
            defer {
                state.object = new.value
                state.isStale = false
            }
            return state.object
        }
        if old != nil { new.value.delegate = self }
    }

    var object: CBPeripheral { withState { $0.object } }

    var log: Log { handle.core.log }

    /// The device, as log lines name it.
    var context: BluetoothError.Context {
        BluetoothError.Context(.connect, peer: identifier, peerName: object.name)
    }

    // MARK: Connecting

    /// Returns the link's number, connecting if needed.
    func connectedLink() async throws -> Int {
        try Task.checkCancellation()
        while true {
            let (object, number) = withState { ($0.object, $0.link?.number) }
            if let number {
                if object.state == .connected { return number }
                // CoreBluetooth has ended the link, and its callback is on the way.
                _ = try await end(of: number)
                continue
            }
            do {
                return try await BluetoothError.limited(handle.core.settings.connectTimeout, clock: handle.clock) {
                    try await self.handle.core.ready()
                    return try await self.joinConnect()
                }
            } catch let failure as OperationFailure {
                // A reset ends by itself.
                guard case .unavailable(let state) = failure.reason, !state.isTerminal else { throw failure }
            }
        }
    }

    private func joinConnect() async throws -> Int {
        let waiter = Waiter<Int>()
        let number = transition { state -> Int? in
            if let link = state.link { return link.number }
            state.connecting.waiters.append(waiter)
            if !state.connecting.isActive {
                state.connecting.isActive = true
                state.order(.connect)
            }
            return nil
        }
        if let number { return number }
        // A connect that reaches an adapter which has just become unusable is never answered, and this change of state
        // has not failed it.
        let now = handle.core.managerState
        if now != .poweredOn { transition { $0.failConnects(.unavailable(now)) } }
        return try await waiter.value {
            transition { state in
                state.connecting.waiters.removeAll { $0 === waiter }
                guard state.connecting.waiters.isEmpty, state.connecting.isActive else { return }
                state.connecting.isActive = false
                state.order(.cancel)
            }
        }
    }

    /// Ends the link with all pending operations, or an attempt at one.
    func disconnect() async {
        let waiter = Waiter<Void>()
        let mustWait = transition { state -> Bool in
            let isActive = state.link != nil || state.connecting.isActive
            state.stopMaintenance()
            guard isActive || state.connecting.isClosing else { return false }
            if isActive { state.order(.cancel) }
            state.endLink(.cancelled)
            state.failConnects(.cancelled)
            state.connecting.isClosing = true
            state.connecting.closes.append(waiter)
            return true
        }
        guard mustWait else { return }
        do {
            try await waiter.value { withState { $0.connecting.closes.removeAll { $0 === waiter } } }
        } catch {
            // The task was cancelled; the link ends all the same.
        }
    }

    /// Waits until a link ends.
    ///
    /// - Returns: The reason.
    /// - Throws: `CancellationError`.
    func end(of number: Int) async throws -> BluetoothError.Reason {
        let waiter = Waiter<CallResult>()
        let isUp = withState { state -> Bool in
            guard state.link?.number == number else { return false }
            state.link?.ends.append(waiter)
            return true
        }
        guard isUp else { return withState { $0.reasonForEnd(of: number) } }
        do {
            _ = try await waiter.value { withState { $0.link?.ends.removeAll { $0 === waiter } } }
            return .disconnected(nil)
        } catch let failure as OperationFailure {
            return failure.reason
        }
    }

    /// Waits for the callback that ends a link, if CoreBluetooth has ended the link; nil while it exists.
    ///
    /// - Parameter isLost: Whether the link is known to have ended. Otherwise CoreBluetooth's state is asked, which
    ///   changes before the callback.
    func endOfLink(_ number: Int, isLost: Bool) async throws -> BluetoothError.Reason? {
        let (object, isUp) = withState { ($0.object, $0.link?.number == number) }
        if isUp, !isLost, object.state == .connected { return nil }
        return try await end(of: number)
    }

    /// The failure of an operation that was about to use a link that is gone.
    func ended(_ number: Int) -> OperationFailure { OperationFailure(withState { $0.reasonForEnd(of: number) }) }

    /// Ends the connection after the last reference to the peripheral was released.
    func abandon() {
        let (object, isActive) = withState { ($0.object, $0.link != nil || $0.connecting.isActive) }
        if isActive, handle.core.managerState == .poweredOn { handle.manager.value.cancelPeripheralConnection(object) }
        handle.core.forget(identifier)
    }

    // MARK: Commands

    func perform(_ command: PeripheralCall, on number: Int) async throws -> CallResult {
        try Task.checkCancellation()
        let waiter = Waiter<CallResult>()
        let isUp = transition { state -> Bool in
            guard state.link?.number == number else { return false }
            state.enqueue(command, .waiter(waiter))
            return true
        }
        guard isUp else { throw ended(number) }
        let key = command.key
        return try await waiter.value { withState { $0.link?.withdraw(waiter, key) } }
    }

    /// Carries out a command whose answer has a value.
    func perform<Value>(
        _ command: PeripheralCall, on number: Int, for value: (CallResult) -> Value?
    ) async throws -> Value {
        guard let value = value(try await perform(command, on: number)) else {
            throw OperationFailure(.refused(CBError(system: .unknown)))
        }
        return value
    }

    /// Writes without response as soon as there is room.
    func writeWithoutResponse(_ value: Data, to characteristic: CBCharacteristic, on number: Int) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<CallResult>()
        let isUp = withState { state -> Bool in
            guard state.link?.number == number else { return false }
            state.link?.writes.append(
                ActiveConnection.PendingWrite(characteristic: characteristic, value: value, waiter: waiter))
            return true
        }
        guard isUp else { throw ended(number) }
        pump()
        _ = try await waiter.value { withState { $0.link?.writes.removeAll { $0.waiter === waiter } } }
    }

    /// Sends writes without response while there is room, one thread at a time.
    func pump() {
        guard withState({ $0.writes.begin() }) else { return }
        repeat {
            let object = object
            while object.canSendWriteWithoutResponse, let write = withState({ $0.nextWrite() }) {
                object.writeValue(write.value, for: write.characteristic, type: .withoutResponse)
                write.waiter.finish(.success(CallResult()))
            }
        } while withState { $0.writes.mustRepeat() }
    }
}
