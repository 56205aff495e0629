import BluetoothBackend

// The events that taps receive about hosts, devices and the air. Without an interested tap, a report costs one branch,
// draws no random number and schedules nothing.
extension World {
    /// Reports an event; the caller has checked that a tap wants it.
    mutating func report(_ kind: TapEvent.Kind) { outputs.append(.tapped(event(kind))) }

    /// Whether the trace or a tap records notes.
    var isNoting: Bool { trace.isOn || air.tapped.contains(.notes) }

    /// Records what no event reports, such as a dropped command.
    ///
    /// - Parameter device: The name of the device that the note concerns, if any.
    mutating func log(_ text: @autoclosure () -> String, of device: String? = nil) {
        guard isNoting else { return }
        let text = text()
        trace.log(text, of: device, at: now)
        if air.tapped.contains(.notes) { report(.note(text)) }
    }

    /// Records an input in the trace, and reports a control to the taps.
    mutating func record(_ input: WorldInput) {
        let name = name(of: input)
        trace.record(input, of: name, at: now)
        if air.tapped.contains(.notes), let (source, line) = input.trace(of: name) {
            report(.control(source: source, line.text, device: input.device?.serial))
        }
    }

    /// Records a fault that a step of a device met, in the trace and for the taps.
    mutating func recordFault(of ref: Ref<Device>, _ step: DeviceFault.Step, _ effect: DeviceFault.Effect) {
        trace.log(.fault(step, effect), of: devices[ref]?.description.name, at: now)
        if air.tapped.contains(.devices) { report(.faultApplied(device: ref.serial, step, effect)) }
    }

    /// Records lost packets of a link with a device, in the trace and for the taps.
    mutating func recordLosses(_ count: Int, on link: Ref<Link>, of device: Ref<Device>) {
        if trace.isOn { trace.log(.losses(count), of: devices[device]?.description.name, at: now) }
        if air.tapped.contains(.links) { report(.packetsLost(link: link.serial, count: count)) }
    }

    /// Returns the name of the device or host that an input controls.
    private func name(of input: WorldInput) -> String? {
        if case .host(let host, _) = input { return hosts[host].identity.name }
        return input.device.flatMap { devices[$0]?.description.name }
    }

    private func event(_ kind: TapEvent.Kind) -> TapEvent { TapEvent(time: .nanoseconds(now), kind: kind) }

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
        return (kinds + [.began]).map(event)
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
        if air.tapped.contains(.hosts) { report(.hostChanged(tappedHost(host))) }
    }

    mutating func reportBond(_ address: DeviceAddress, on host: Int) {
        guard air.tapped.contains(.hosts), let bond = bonds(of: host).first(where: { $0.identityAddress == address })
        else { return }
        report(.bondMade(host: host, bond))
    }

    // MARK: Devices

    /// Reports an added device with its services.
    mutating func reportAddition(of ref: Ref<Device>) {
        guard air.tapped.contains(.devices), let device = devices[ref] else { return }
        report(.deviceAdded(device.tapped(ref)))
        reportServices(of: ref)
    }

    mutating func reportChange(of ref: Ref<Device>) {
        guard air.tapped.contains(.devices), let device = devices[ref] else { return }
        report(.deviceChanged(device.tapped(ref)))
    }

    mutating func reportServices(of ref: Ref<Device>) {
        guard air.tapped.contains(.devices), let services = devices[ref]?.server.database.tappedServices else { return }
        report(.servicesChanged(device: ref.serial, services))
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
        report(.advertising(packet(description.data, receptions, isScanResponse: false)))
        let scanning = receptions.filter(\.isScanning)
        guard let response = description.scanResponse, !scanning.isEmpty else { return }
        report(.advertising(packet(response, scanning, isScanResponse: true)))
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
