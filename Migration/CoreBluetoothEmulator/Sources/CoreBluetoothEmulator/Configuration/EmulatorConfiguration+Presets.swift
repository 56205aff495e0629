extension EmulatorConfiguration {
    /// The settings with plausible delays and no failures.
    public static var `default`: EmulatorConfiguration { EmulatorConfiguration() }

    /// The settings without delays, for tests; advertising packets come every 20 ms, which is the emulator's shortest
    /// interval.
    public static var instant: EmulatorConfiguration {
        EmulatorConfiguration(
            stateUpdateDelay: 0, scanDiscoveryInterval: 0.01, connectionDelay: 0, disconnectionDelay: 0,
            serviceDiscoveryDelay: 0, characteristicDiscoveryDelay: 0, descriptorDiscoveryDelay: 0, readDelay: 0,
            writeDelay: 0, notificationDelay: 0, rssiRange: -60...(-50), rssiVariation: 2,
            backpressureProcessingDelay: 0, pairingDelay: 0)
    }

    /// The settings with long delays, a weak signal, the smallest MTU and short queues.
    public static var slow: EmulatorConfiguration {
        EmulatorConfiguration(
            stateUpdateDelay: 0.5, scanDiscoveryInterval: 2, connectionDelay: 1, disconnectionDelay: 0.5,
            serviceDiscoveryDelay: 0.5, characteristicDiscoveryDelay: 0.5, descriptorDiscoveryDelay: 0.5,
            readDelay: 0.2, writeDelay: 0.2, notificationDelay: 0.2, rssiRange: -90...(-70), rssiVariation: 10,
            defaultMTU: 23,
            maximumMTU: 185, maxWriteWithoutResponseQueue: 5, maxNotificationQueue: 5, simulateBackpressure: true,
            backpressureProcessingDelay: 0.3, pairingDelay: 1)
    }

    /// The settings with random failures: one connect in five, one read or write in ten, and every pairing.
    public static var unreliable: EmulatorConfiguration {
        EmulatorConfiguration(
            rssiRange: -90...(-40), rssiVariation: 15, simulateConnectionFailure: true, connectionFailureRate: 0.2,
            simulateReadWriteErrors: true, readWriteErrorRate: 0.1, maxWriteWithoutResponseQueue: 10,
            maxNotificationQueue: 10, simulateBackpressure: true, backpressureProcessingDelay: 0.2,
            simulatePairing: true, pairingSucceeds: false)
    }
}
