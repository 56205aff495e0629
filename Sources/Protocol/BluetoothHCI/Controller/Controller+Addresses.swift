import BluetoothSupport

/// The addresses of the controller, and the lists of devices.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.4, 7.8.15 to 7.8.17, 7.8.38 to 7.8.45 and 7.8.77.
extension Controller {
    // MARK: Own addresses

    mutating func setRandomAddress(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let address = try cursor.readAddress(isRandom: true)
        // Extended advertising has addresses of its own.
        let isAdvertising = state.family != .extended && state.advertising.values.contains(where: \.isEnabled)
        guard !isAdvertising, !state.scan.isEnabled, state.initiator == nil else { throw .commandDisallowed }
        state.randomAddress = address
    }

    /// Returns the address of an own address type; one that the host has not set throws.
    mutating func ownAddress(type: UInt8, random: HCIAddress?, peer: HCIAddress?) throws(HCIStatus) -> HCIAddress {
        if let address = privateAddress(type: type, peer: peer) { return address }
        guard type & 1 == 1 else { return configuration.address }
        guard let random else { throw .invalidCommandParameters }
        return random
    }

    /// Makes a resolvable private address.
    ///
    /// - Returns: nil if the own address type asks for no private address, or the resolving list has no key for the peer.
    private mutating func privateAddress(type: UInt8, peer: HCIAddress?) -> HCIAddress? {
        guard type >= 2, let peer else { return nil }
        return state.resolvingList.makeAddress(for: peer, random: generator.next(), using: configuration.cipher)
    }

    /// The time after which ``renewPrivateAddresses()`` is due.
    package var privateAddressTimeout: Duration { state.resolvingList.timeout }

    /// Makes new private addresses for the enabled advertising sets.
    package mutating func renewPrivateAddresses() -> Output {
        for number in state.advertising.keys.sorted() {
            guard let set = state.advertising[number], set.isEnabled,
                let address = privateAddress(type: set.ownAddressType, peer: set.peer)
            else { continue }
            state.advertising[number]?.address = address
            advertise(number)
        }
        return takeOutput()
    }

    // MARK: Lists

    /// Changes the accept list, unless a procedure uses it.
    mutating func changeAcceptList(
        _ change: (inout AcceptList) throws(HCIStatus) -> Void
    ) throws(HCIStatus) {
        let isUsed =
            state.scan.isEnabled && state.scan.usesAcceptList || state.initiator?.usesAcceptList == true
            || state.advertising.values.contains { $0.isEnabled && $0.usesAcceptList }
        guard !isUsed else { throw .commandDisallowed }
        try change(&state.acceptList)
    }

    /// Changes the entries of the resolving list, unless a procedure uses them.
    mutating func changeResolvingList(
        _ change: (inout ResolvingList) throws(HCIStatus) -> Void
    ) throws(HCIStatus) {
        guard !state.resolvingList.isEnabled || !isBusy else { throw .commandDisallowed }
        try change(&state.resolvingList)
    }

    /// Changes how addresses are resolved, unless a procedure is under way.
    mutating func changeResolution(
        _ change: (inout ResolvingList) throws(HCIStatus) -> Void
    ) throws(HCIStatus) {
        guard !isBusy else { throw .commandDisallowed }
        try change(&state.resolvingList)
    }

    private var isBusy: Bool {
        state.scan.isEnabled || state.initiator != nil || state.advertising.values.contains(where: \.isEnabled)
    }
}
