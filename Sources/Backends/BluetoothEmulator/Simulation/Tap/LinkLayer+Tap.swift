import BluetoothBackend

// The links as taps report them.
extension LinkLayer {
    /// Returns a link for the taps; for a link that is just opening, the remembered services follow later.
    func tapped(
        _ ref: Ref<Link>, isOpening: Bool = false, _ gatt: GATT, _ security: Security, _ air: Air, _ hosts: Hosts
    ) -> TappedConnection? {
        guard let link = self[ref], let device = air.devices[link.device] else { return nil }
        let central = hosts[link.host].identity
        let isCentralKnown = security.serverBond(link.device, device, with: hosts[link.host]) != nil
        // Changed addresses are still those of the link if the other side has no keys.
        let centralAddress = isCentralKnown ? nil : link.centralAddress
        let deviceAddress = hosts[link.host].peers[link.peer]?.address
        let bond = security[link.host].bonds[device.identity.identityAddress]
        let remembersServices = isOpening && link.security.refusal == nil && bond?.cache != nil
        return TappedConnection(
            link: ref.serial,
            central: TappedConnection.End(
                host: link.host, peer: link.central, address: centralAddress ?? central.airAddress,
                identityAddress: isCentralKnown ? central.address : nil),
            peripheral: TappedConnection.End(
                host: device.host, peer: link.peer, address: deviceAddress ?? device.identity.address,
                identityAddress: bond.map { _ in device.identity.identityAddress }),
            device: link.device.serial, parameters: link.timing.parameters, mtu: link.mtu,
            phy: link.timing.packets.phy, dataLength: link.timing.packets.dataLength, security: link.security,
            sharedLink: link.other.flatMap { $0 < ref ? $0.serial : nil },
            knowsServices: remembersServices || gatt[ref]?.client.cache != nil)
    }
}

extension LinkTiming {
    var parameters: ConnectionParameters {
        ConnectionParameters(
            interval: .nanoseconds(interval), peripheralLatency: latency,
            supervisionTimeout: .nanoseconds(supervisionTimeout))
    }
}
