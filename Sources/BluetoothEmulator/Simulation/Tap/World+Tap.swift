import BluetoothBackend

// The events that taps receive about hosts, devices and the air.
extension World {
    /// Records a fault that a step of a device met, in the trace and for the taps.
    mutating func recordFault(of ref: Ref<Device>, _ step: DeviceFault.Step, _ effect: DeviceFault.Effect) {
        context.trace.log(.fault(step, effect), of: devices[ref]?.description.name, at: context.now)
        if context.tapped.contains(.devices) { context.report(.faultApplied(device: ref.serial, step, effect)) }
    }

    /// Records lost packets of a link with a device, in the trace and for the taps.
    mutating func recordLosses(_ count: Int, on link: Ref<Link>, of device: Ref<Device>) {
        if context.trace.isOn {
            context.trace.log(.losses(count), of: devices[device]?.description.name, at: context.now)
        }
        if context.tapped.contains(.links) { context.report(.packetsLost(link: link.serial, count: count)) }
    }

    /// The events that describe the present world, for a new tap.
    var presentState: [TapEvent] {
        var kinds = hosts.indices.map { TapEvent.Kind.hostAdded(tappedHost($0)) }
        for host in hosts.indices { kinds += bonds(of: host).map { .bondMade(host: host, $0) } }
        for ref in devices.refs {
            guard let device = devices[ref] else { continue }
            kinds.append(.deviceAdded(device.tapped(ref)))
            kinds.append(.servicesChanged(device: ref.serial, device.server.database.tappedServices))
        }
        kinds += links.refs.compactMap { tappedConnection($0).map(TapEvent.Kind.connectionOpened) }
        return (kinds + [.began]).map(context.event)
    }

    // MARK: Hosts

    func tappedHost(_ index: Int) -> TappedHost {
        let (identity, adapter) = (hosts[index].identity, hosts[index].adapter)
        return TappedHost(
            index: index, name: identity.name, isAnonymous: identity.isAnonymous, identityAddress: identity.address,
            address: identity.airAddress, state: adapter.state, isPowered: adapter.isPowered,
            isPlugged: adapter.isPlugged, isResetting: adapter.isResetting, authorization: adapter.authorization)
    }

    mutating func reportChange(ofHost host: Int) {
        if context.tapped.contains(.hosts) { context.report(.hostChanged(tappedHost(host))) }
    }

    mutating func reportBond(_ address: DeviceAddress, on host: Int) {
        guard context.tapped.contains(.hosts),
            let bond = bonds(of: host).first(where: { $0.identityAddress == address })
        else { return }
        context.report(.bondMade(host: host, bond))
    }

    // MARK: Devices

    /// Reports an added device with its services.
    mutating func reportAddition(of ref: Ref<Device>) {
        guard context.tapped.contains(.devices), let device = devices[ref] else { return }
        context.report(.deviceAdded(device.tapped(ref)))
        reportServices(of: ref)
    }

    mutating func reportChange(of ref: Ref<Device>) {
        guard context.tapped.contains(.devices), let device = devices[ref] else { return }
        context.report(.deviceChanged(device.tapped(ref)))
    }

    mutating func reportServices(of ref: Ref<Device>) {
        guard context.tapped.contains(.devices), let services = devices[ref]?.server.database.tappedServices else {
            return
        }
        context.report(.servicesChanged(device: ref.serial, services))
    }

    // MARK: The air

    /// Reports an advertising packet and its scan response.
    mutating func report(
        _ ref: Ref<Device>, _ index: Int, _ rssi: Int, _ receptions: [TappedAdvertisingPacket.Reception],
        missedBy: [Int]
    ) {
        guard let device = devices[ref] else { return }
        let description = device.advertiser.sets[index].description
        func packet(
            _ data: AdvertisingData, _ receptions: [TappedAdvertisingPacket.Reception], isScanResponse: Bool
        ) -> TappedAdvertisingPacket {
            TappedAdvertisingPacket(
                device: ref.serial, set: index, address: device.identity.address, isScanResponse: isScanResponse,
                data: data, isConnectable: description.isConnectable, isExtended: description.isExtended, rssi: rssi,
                receptions: receptions, missedBy: isScanResponse ? [] : missedBy)
        }
        context.report(.advertising(packet(description.data, receptions, isScanResponse: false)))
        let scanning = receptions.filter(\.isScanning)
        guard let response = description.scanResponse, !scanning.isEmpty else { return }
        context.report(.advertising(packet(response, scanning, isScanResponse: true)))
    }

    /// Returns the reception of an advertising packet by a host, received or missed; nil if the host does not listen.
    func reception(_ host: Int, of ref: Ref<Device>, _ index: Int) -> TappedAdvertisingPacket.Reception? {
        let isScanning = !hosts[host].scanning.scanners.isEmpty
        guard isScanning || isConnecting(host, ref, index), let peer = devices[ref]?.identity.peers[host] else {
            return nil
        }
        return TappedAdvertisingPacket.Reception(host: host, peer: peer, isScanning: isScanning)
    }
}

extension Device {
    fileprivate func tapped(_ ref: Ref<Device>) -> TappedDevice {
        TappedDevice(
            number: ref.serial, host: host, name: description.name, identityAddress: identity.identityAddress,
            address: identity.address, proximity: signal.proximity, rssi: signal.rssi, isOn: signal.isOn,
            advertising: advertiser.sets.map {
                TappedDevice.AdvertisingSet(description: $0.description, isEnabled: $0.isEnabled)
            })
    }
}
