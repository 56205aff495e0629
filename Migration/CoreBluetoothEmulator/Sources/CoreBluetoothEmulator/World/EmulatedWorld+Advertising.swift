import BluetoothEmulator

extension EmulatedWorld {
    /// Adds the fields of a manager's advertisement besides name and services to those that its host sends.
    ///
    /// Fields that fit in no packet are not sent, with a log line; clients of this module receive them all the same.
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
