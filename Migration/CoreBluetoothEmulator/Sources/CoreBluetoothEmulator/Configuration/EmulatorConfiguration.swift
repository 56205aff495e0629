public import CoreBluetooth

/// The settings of the emulator and of the emulated apps.
///
/// ``EmulatorBus/configure(_:)`` applies it from then on. Times are in seconds of the world's time, lengths in bytes,
/// signal strengths in dBm, probabilities 0…1. A number outside a field's range counts as the nearest value within it.
public struct EmulatorConfiguration: Sendable {
    // MARK: Timing

    /// The time from the creation of a manager to its first state.
    public var stateUpdateDelay: TimeInterval
    /// The time between two advertising packets of a peripheral manager, 0.02…10.24; the link layer adds up to 0.01
    /// each time.
    public var scanDiscoveryInterval: TimeInterval
    /// The time from the packet that answers a connect to the open link.
    public var connectionDelay: TimeInterval
    /// The time from the cancellation of a connection to its end.
    public var disconnectionDelay: TimeInterval
    /// The time that a discovery of services or included services takes.
    public var serviceDiscoveryDelay: TimeInterval
    /// The time that a discovery of characteristics takes.
    public var characteristicDiscoveryDelay: TimeInterval
    /// The time that a discovery of descriptors takes.
    public var descriptorDiscoveryDelay: TimeInterval
    /// The time that a read takes.
    public var readDelay: TimeInterval
    /// The time that a write with response takes.
    public var writeDelay: TimeInterval
    /// The time that a notification takes.
    public var notificationDelay: TimeInterval

    // MARK: Signal

    /// The range of the signal strength; each peripheral manager keeps a mean value within.
    public var rssiRange: ClosedRange<Int>
    /// The variation of the signal strength in both directions, within the range.
    public var rssiVariation: Int

    // MARK: Failures

    /// Whether ``connectionFailureRate`` applies.
    public var simulateConnectionFailure: Bool
    /// The probability that a connect fails with `CBError.connectionFailed`.
    public var connectionFailureRate: Double
    /// Whether ``readWriteErrorRate`` applies.
    public var simulateReadWriteErrors: Bool
    /// The probability that a read or a write with response is refused as not permitted.
    public var readWriteErrorRate: Double

    // MARK: Sizes

    /// The ATT MTU of a new link, 23…517.
    public var defaultMTU: Int
    /// The largest ATT MTU that ``EmulatorBus/negotiateMTU(centralIdentifier:peripheralIdentifier:requestedMTU:)``
    /// agrees to, 23…517.
    public var maximumMTU: Int
    /// The number of writes without response that may wait on a link, while ``simulateBackpressure``; at least 1.
    public var maxWriteWithoutResponseQueue: Int
    /// The number of values of a characteristic that may wait, while ``simulateBackpressure``; at least 1.
    public var maxNotificationQueue: Int
    /// Whether queues fill up.
    public var simulateBackpressure: Bool
    /// The time for which a write or a value occupies its place in the queue.
    public var backpressureProcessingDelay: TimeInterval

    // MARK: Pairing

    /// Whether permissions and properties that require encryption apply; affects services that are added from then on.
    public var requirePairing: Bool
    /// Whether pairing takes ``pairingDelay`` and ends according to ``pairingSucceeds``; otherwise it succeeds at once.
    public var simulatePairing: Bool
    /// The time that a pairing takes.
    public var pairingDelay: TimeInterval
    /// Whether pairings succeed.
    public var pairingSucceeds: Bool

    // MARK: Scanning and the background

    /// Whether `CBCentralManagerScanOptionAllowDuplicatesKey` applies.
    public var honorAllowDuplicatesOption: Bool
    /// Whether `CBCentralManagerScanOptionSolicitedServiceUUIDsKey` applies.
    public var honorSolicitedServiceUUIDs: Bool
    /// Whether a scan without services is logged as one that finds nothing in the background of an iPhone.
    public var backgroundModeEnabled: Bool

    // MARK: Features

    /// Whether restore identifiers apply.
    public var stateRestorationEnabled: Bool
    /// Whether L2CAP channels can be published and opened; otherwise both fail with `CBError.connectionFailed`.
    public var l2capSupported: Bool
    /// Whether registered central managers receive connection events.
    public var fireConnectionEvents: Bool
    /// Whether managers receive changes of the ANCS authorization.
    public var fireANCSAuthorizationUpdates: Bool
    /// The numbers that are assigned to published L2CAP channels.
    public var l2capPSMRange: ClosedRange<UInt16>
    /// Whether advertisements without these fields are connectable and have a transmit power of −12…−4 dBm.
    public var autoGenerateAdvertisementFields: Bool

    // MARK: Extension

    /// Whether Apple's rules apply if the library of this name has other ones.
    ///
    /// An extension of this package; false by default. True has these consequences:
    ///
    /// - A request waits for ``EmulatedCBPeripheralManager/respond(to:withResult:)``, on any thread, at any later time.
    /// - A read without a value is answered with an empty one rather than with the stored one.
    /// - ``EmulatedCBPeripheral/maximumWriteValueLength(for:)`` is 512 with response.
    /// - `registerForConnectionEvents(options: nil)` ends the registration, and links of other apps are reported too.
    /// - Advertisements contain only name and services.
    /// - A manager that has nothing to restore gets no `willRestoreState`.
    /// - `peripheralIsReady(toSendWriteWithoutResponse:)` is called only on the peripheral's delegate, and a write
    ///   without response to a full queue is dropped.
    public var followsApple = false
}

extension EmulatorConfiguration {
    /// Creates a configuration; omitted fields are those of ``default``.
    public init(
        stateUpdateDelay: TimeInterval = 0.1, scanDiscoveryInterval: TimeInterval = 0.5,
        connectionDelay: TimeInterval = 0.2, disconnectionDelay: TimeInterval = 0.1,
        serviceDiscoveryDelay: TimeInterval = 0.15, characteristicDiscoveryDelay: TimeInterval = 0.15,
        descriptorDiscoveryDelay: TimeInterval = 0.15, readDelay: TimeInterval = 0.05,
        writeDelay: TimeInterval = 0.05, notificationDelay: TimeInterval = 0.05,
        rssiRange: ClosedRange<Int> = -80...(-40), rssiVariation: Int = 5, simulateConnectionFailure: Bool = false,
        connectionFailureRate: Double = 0, simulateReadWriteErrors: Bool = false, readWriteErrorRate: Double = 0,
        defaultMTU: Int = 185, maximumMTU: Int = 512, maxWriteWithoutResponseQueue: Int = 20,
        maxNotificationQueue: Int = 20, simulateBackpressure: Bool = false,
        backpressureProcessingDelay: TimeInterval = 0.1, requirePairing: Bool = false, simulatePairing: Bool = false,
        pairingDelay: TimeInterval = 0.5, pairingSucceeds: Bool = true, honorAllowDuplicatesOption: Bool = true,
        honorSolicitedServiceUUIDs: Bool = true, backgroundModeEnabled: Bool = false,
        stateRestorationEnabled: Bool = false, l2capSupported: Bool = false, fireConnectionEvents: Bool = false,
        fireANCSAuthorizationUpdates: Bool = false, l2capPSMRange: ClosedRange<UInt16> = 0x80...0xFF,
        autoGenerateAdvertisementFields: Bool = true
    ) {
        (self.stateUpdateDelay, self.scanDiscoveryInterval) = (stateUpdateDelay, scanDiscoveryInterval)
        (self.connectionDelay, self.disconnectionDelay) = (connectionDelay, disconnectionDelay)
        self.serviceDiscoveryDelay = serviceDiscoveryDelay
        self.characteristicDiscoveryDelay = characteristicDiscoveryDelay
        self.descriptorDiscoveryDelay = descriptorDiscoveryDelay
        (self.readDelay, self.writeDelay, self.notificationDelay) = (readDelay, writeDelay, notificationDelay)
        (self.rssiRange, self.rssiVariation) = (rssiRange, rssiVariation)
        self.simulateConnectionFailure = simulateConnectionFailure
        self.connectionFailureRate = connectionFailureRate
        (self.simulateReadWriteErrors, self.readWriteErrorRate) = (simulateReadWriteErrors, readWriteErrorRate)
        (self.defaultMTU, self.maximumMTU) = (defaultMTU, maximumMTU)
        self.maxWriteWithoutResponseQueue = maxWriteWithoutResponseQueue
        self.maxNotificationQueue = maxNotificationQueue
        self.simulateBackpressure = simulateBackpressure
        self.backpressureProcessingDelay = backpressureProcessingDelay
        (self.requirePairing, self.simulatePairing) = (requirePairing, simulatePairing)
        (self.pairingDelay, self.pairingSucceeds) = (pairingDelay, pairingSucceeds)
        self.honorAllowDuplicatesOption = honorAllowDuplicatesOption
        self.honorSolicitedServiceUUIDs = honorSolicitedServiceUUIDs
        self.backgroundModeEnabled = backgroundModeEnabled
        (self.stateRestorationEnabled, self.fireConnectionEvents) = (stateRestorationEnabled, fireConnectionEvents)
        self.fireANCSAuthorizationUpdates = fireANCSAuthorizationUpdates
        (self.l2capSupported, self.l2capPSMRange) = (l2capSupported, l2capPSMRange)
        self.autoGenerateAdvertisementFields = autoGenerateAdvertisementFields
    }
}
