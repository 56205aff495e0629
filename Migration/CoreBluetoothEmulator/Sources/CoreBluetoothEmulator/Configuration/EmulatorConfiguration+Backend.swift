import BluetoothEmulator
import Foundation

/// The emulator's settings that follow from a configuration.
extension EmulatorConfiguration {
    /// The settings of the emulator.
    ///
    /// A round trip takes no additional time: only the delays of the configuration apply. Those of discovery and of
    /// writes differ by kind, and are therefore in ``faults``. Backpressure is simulated by ``EmulatedWorld``, so the
    /// emulator's queues are long, except if Apple's rule applies.
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

    /// The faults of a peripheral manager's device.
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

    /// The delay and the outcome of pairings.
    var pairing: (delay: Duration, succeeds: Bool) {
        simulatePairing ? (.time(pairingDelay), pairingSucceeds) : (.zero, true)
    }

    /// The interval of advertising packets that is closest to ``scanDiscoveryInterval``.
    var advertisingInterval: Duration {
        min(.milliseconds(10_240), max(.milliseconds(20), .time(scanDiscoveryInterval)))
    }

    /// The ATT MTU of a new link.
    var initialMTU: Int { Self.mtu(defaultMTU) }

    /// Returns the ATT MTU that a negotiation yields.
    func agreedMTU(_ requested: Int) -> Int { min(Self.mtu(requested), Self.mtu(maximumMTU)) }

    private static func mtu(_ length: Int) -> Int { min(mtuRange.upperBound, max(mtuRange.lowerBound, length)) }

    /// The range from the minimum of ATT over LE to the maximum that values of 512 bytes need (Core Specification, Vol
    /// 3, Part F, 3.2.8, 3.2.9).
    private static let mtuRange = 23...517

    /// A length that no test of this library's clients fills within one callback.
    private static let longQueue = 4_096
}

extension Duration {
    /// Returns a time of a configuration, at least 0 and less than 32 years.
    static func time(_ seconds: TimeInterval) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(1e9, max(0, seconds)))
    }
}

extension Double {
    /// The number as a probability.
    fileprivate var chance: Double { isNaN ? 0 : Swift.min(1, Swift.max(0, self)) }
}
