import BluetoothBackend

struct AdvertisingState: Sendable {
    enum Phase: Equatable, Sendable {
        case off
        case starting(OperationID)
        case on
        /// The adapter is off; advertising continues when it is on again (S104).
        case paused
    }

    fileprivate(set) var phase = Phase.off
    fileprivate var advertisement = Advertisement()
    fileprivate(set) var answers = ResponseOrder<PeripheralCallback>()

    /// Restores an earlier process's advertisement; advertising continues when the adapter is on.
    mutating func restore(_ advertisement: Advertisement) {
        self.advertisement = advertisement
        phase = .paused
    }

    /// Follows a change of the adapter's state; calls that wait get no answer.
    ///
    /// - Returns: Whether to advertise again.
    mutating func adapterChanged(to state: AdapterState) -> Bool {
        let unanswered = answers.removeAll()
        switch (phase, state) {
        case (.paused, .poweredOn): return true
        case (.starting(let operation), .poweredOff): phase = unanswered.contains(operation) ? .off : .paused
        case (.on, .poweredOff), (.paused, .poweredOff): phase = .paused
        default: phase = .off
        }
        return false
    }
}

extension PeripheralStateMachine {
    /// Whether the manager advertises (S119); a resumed advertisement counts from its first command on.
    var isAdvertising: Bool {
        guard case .starting(let operation) = advertising.phase else { return advertising.phase == .on }
        return !advertising.answers.contains(operation)
    }

    /// Performs `startAdvertising` (S119, S120, S122).
    mutating func startAdvertising(_ layout: AdvertisementLayout) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        let operation = newOperation()
        advertising.answers.append(operation)
        guard advertising.phase == .off else {
            return [
                .complete(.refused(operation, BackendError(.alreadyAdvertising, operation: "start advertising")))
            ]
        }
        advertising.advertisement = layout.advertisement
        return submitAdvertising(operation)
    }

    /// Performs `stopAdvertising` (S121).
    mutating func stopAdvertising() -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard advertising.phase != .off else { return [] }
        advertising.phase = .off
        return [.submit(.stopAdvertising)]
    }

    /// Resumes a paused advertisement, without a callback (S104).
    mutating func resumeAdvertising() -> [PeripheralEffect] {
        submitAdvertising(newOperation())
    }

    private mutating func submitAdvertising(_ operation: OperationID) -> [PeripheralEffect] {
        advertising.phase = .starting(operation)
        return [.submit(.startAdvertising(operation: operation, advertisement: advertising.advertisement))]
    }

    /// Handles the answer to a start; nil if it is for another operation.
    ///
    /// Each call is answered, even if it was stopped before.
    mutating func advertisingStarted(_ operation: OperationID, _ error: BackendError?) -> [PeripheralEffect]? {
        let isCurrent = advertising.phase == .starting(operation)
        let isAsked = advertising.answers.contains(operation)
        guard isCurrent || isAsked else { return nil }
        if isCurrent { advertising.phase = error == nil ? .on : .off }
        guard isAsked else { return error.map { [.misuse(.advertisingNotResumed($0))] } ?? [] }
        return advertising.answers.respond(to: operation, with: .advertisingStarted(error)).map { .callback($0) }
    }

    /// Records that the backend ended the advertisement, for which Apple has no callback.
    mutating func advertisingEnded() -> [PeripheralEffect] {
        guard advertising.phase != .off else { return [] }
        advertising.phase = .off
        return [.misuse(.advertisingEnded)]
    }
}
