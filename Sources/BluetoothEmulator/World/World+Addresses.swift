import BluetoothBackend

// Address privacy: a device under changing addresses, known to those who have its keys.
extension World {
    /// The device takes a new resolvable private address; its links stay.
    ///
    /// Who has its keys knows it still, to others it is another device. Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    mutating func rotateAddress(of ref: Ref<Device>) {
        guard devices.contains(ref) else { return }
        let bits = (devices[ref]?.addressRandom.next() ?? 0) & 0x3FFF_FFFF_FFFF | 0x4000_0000_0000
        let address = DeviceAddress(bits: bits)
        devices[ref]?.address = address
        showAddress(of: ref)
    }

    /// All hosts know a device by its present address, or by its keys.
    mutating func showAddress(of ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        for host in hosts.indices {
            if hosts[host].bonds[device.identityAddress] != nil {
                hosts[host].peers[device.identities[host]]?.address = device.address
            } else {
                devices[ref]?.identities[host] = hosts[host].identity(of: device.address)
            }
        }
        for index in devices[ref]?.sets.indices ?? 0..<0 {
            devices[ref]?.sets[index].generation += 1
            devices[ref]?.sets[index].isScheduled = false
            devices[ref]?.sets[index].heard = []
        }
        wake(ref)
    }

    /// Time to rotate, and for the next time.
    mutating func rotationDue(_ ref: Ref<Device>) {
        guard let period = devices[ref]?.addressRotation else { return }
        rotateAddress(of: ref)
        queue.schedule(.rotateAddress(ref), at: now + period.nanoseconds, isPeriodic: true)
    }
}
