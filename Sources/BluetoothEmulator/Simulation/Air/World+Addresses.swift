import BluetoothBackend
import BluetoothSupport

// Address privacy: a device under changing addresses, known to those who have its keys.
extension World {
    /// The device takes a new resolvable private address; its links stay.
    ///
    /// Who has its keys knows it still, to others it is another device. Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    mutating func rotateAddress(of ref: Ref<Device>) {
        guard devices.contains(ref) else { return }
        if let host = devices[ref]?.host { return rotateAddress(of: host) }
        let address = privateAddress(devices[ref]?.addressRandom.next() ?? 0)
        setAddress(address, of: ref)
        showAddress(of: ref)
    }

    /// A host takes a new resolvable private address, as central and as peripheral; its links stay.
    mutating func rotateAddress(of host: Int) {
        hosts[host].rotations += 1
        var random = SeededGenerator(seed: seed &+ hosts[host].rotations, stream: "address \(hosts[host].address)")
        hosts[host].airAddress = privateAddress(random.next())
        guard let server = hosts[host].server else { return }
        setAddress(hosts[host].airAddress, of: server)
        showAddress(of: server)
    }

    mutating func setAddress(_ address: DeviceAddress, of ref: Ref<Device>) {
        if let old = devices[ref]?.address { addresses.remove(old) }
        addresses.insert(address)
        devices[ref]?.address = address
    }

    private func privateAddress(_ random: UInt64) -> DeviceAddress {
        DeviceAddress(bits: random & 0x3FFF_FFFF_FFFF | 0x4000_0000_0000)
    }

    /// A device knows the central of a new link by its keys, else by its present address.
    mutating func showCentral(of ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        let bond = serverBond(link.device, with: link.host)
        links[ref]?.centralAddress = bond == nil ? hosts[link.host].airAddress : hosts[link.host].address
        guard let server = devices[link.device]?.host else { return }
        links[ref]?.central = bond?.peer ?? hosts[server].identity(of: hosts[link.host].airAddress)
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

    /// Time for a host to rotate, and for the next time.
    mutating func rotationDue(_ host: Int) {
        guard let period = hosts[host].addressRotation else { return }
        rotateAddress(of: host)
        queue.schedule(.rotateHostAddress(host), at: now + period.nanoseconds, isPeriodic: true)
    }

    /// Time to rotate, and for the next time.
    mutating func rotationDue(_ ref: Ref<Device>) {
        guard let period = devices[ref]?.addressRotation else { return }
        rotateAddress(of: ref)
        queue.schedule(.rotateAddress(ref), at: now + period.nanoseconds, isPeriodic: true)
    }
}
