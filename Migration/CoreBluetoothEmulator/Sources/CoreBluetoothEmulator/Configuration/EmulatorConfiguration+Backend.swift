import BluetoothEmulator
import Foundation

/// The emulator's settings that follow from a configuration.
extension EmulatorConfiguration {
    /// The settings of the emulator.
    ///
    /// A round trip takes no time of its own: the delays of the configuration are all there are. Those of discovery and of
    /// writes differ by kind, and so are in ``faults``. Backpressure is simulated by ``EmulatedWorld``, so that the
    /// emulator's own queues are long, except where Apple's rule counts.
    var backend: BackendConfiguration {
        var backend = BackendConfiguration()
        backend.stateDelay = .time(stateUpdateDelay)
        backend.connectionDelay = .time(connectionDelay)
        backend.disconnectionDelay = .time(disconnectionDelay)
        backend.readDelay = .time(readDelay)
        backend.notificationDelay = .time(notificationDelay)
        backend.pairingDelay = pairing.delay
        backend.connectionInterval = .zero
        backend.maximumMTU = Self.mtuRange.upperBound
        backend.rssiDeviation = max(0, rssiVariation)
        backend.connectionFailureRate = simulateConnectionFailure ? connectionFailureRate.chance : 0
        backend.operationErrorRate = simulateReadWriteErrors ? readWriteErrorRate.chance : 0
        backend.transmitBuffer = followsApple ? max(1, maxWriteWithoutResponseQueue) : Self.longQueue
        backend.notifyBuffer = followsApple ? max(1, maxNotificationQueue) : Self.longQueue
        backend.announcesSentBursts = followsApple
        return backend
    }

    /// The faults of what a peripheral manager is on the air.
    var faults: [DeviceFault] {
        let delays: [(DeviceFault.Step, TimeInterval)] = [
            (.discoverServices, serviceDiscoveryDelay), (.discoverIncludedServices, serviceDiscoveryDelay),
            (.discoverCharacteristics, characteristicDiscoveryDelay), (.discoverDescriptors, descriptorDiscoveryDelay),
            (.write, writeDelay),
        ]
        let faults = delays.filter { $0.1 > 0 }.map { DeviceFault($0.0, .delay(.time($0.1)), count: nil) }
        guard !pairing.succeeds else { return faults }
        return faults + [DeviceFault(.pair, .fail(.insufficientAuthentication), count: nil)]
    }

    /// How pairings go.
    var pairing: (delay: Duration, succeeds: Bool) {
        simulatePairing ? (.time(pairingDelay), pairingSucceeds) : (.zero, true)
    }

    /// The interval of advertising packets that is next to ``scanDiscoveryInterval``.
    var advertisingInterval: Duration {
        min(.milliseconds(10_240), max(.milliseconds(20), .time(scanDiscoveryInterval)))
    }

    /// The ATT MTU of a new link.
    var initialMTU: Int { Self.mtu(defaultMTU) }

    /// The ATT MTU that a negotiation yields.
    func agreedMTU(_ requested: Int) -> Int { min(Self.mtu(requested), Self.mtu(maximumMTU)) }

    private static func mtu(_ length: Int) -> Int { min(mtuRange.upperBound, max(mtuRange.lowerBound, length)) }

    /// The least of ATT over LE; the most that values of 512 bytes need (Core Specification, Vol 3, Part F, 3.2.8, 3.2.9).
    private static let mtuRange = 23...517

    /// No test of this library's clients fills it within one turn of a queue.
    private static let longQueue = 4_096
}

extension Duration {
    /// A time of a configuration, at least 0 and less than 32 years.
    static func time(_ seconds: TimeInterval) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(1e9, max(0, seconds)))
    }
}

extension Double {
    /// The number as a chance.
    fileprivate var chance: Double { isNaN ? 0 : Swift.min(1, Swift.max(0, self)) }
}
