import BluetoothEmulator

extension EmulatedWorld {
    /// Lets the advertisements of a peripheral manager's host carry what its manager gave beside name and services.
    ///
    /// What no packet has room for is left out of the air, with a log line; clients of this module get it all the same.
    func advertise(_ advertisement: EmulatedAdvertisement, on host: EmulatedHost) {
        let interval = configuration.advertisingInterval
        do {
            try host.setAdvertising(HostAdvertising(interval: interval, data: advertisement.packet))
        } catch {
            logWarning("advertised with name and services only: \(error)")
            do {
                try host.setAdvertising(HostAdvertising(interval: interval))
            } catch {
                logWarning("the advertising interval stays: \(error)")
            }
        }
    }
}
