import BluetoothBackend

// The events that taps receive about devices and their packets.
extension Device {
    /// Reports an added device with its services.
    func reportAddition(_ ref: Ref<Device>, _ context: inout WorldContext) {
        guard context.tapped.contains(.devices) else { return }
        context.report(.deviceAdded(tapped(ref)))
        reportServices(ref, &context)
    }

    func reportChange(_ ref: Ref<Device>, _ context: inout WorldContext) {
        if context.tapped.contains(.devices) { context.report(.deviceChanged(tapped(ref))) }
    }

    func reportServices(_ ref: Ref<Device>, _ context: inout WorldContext) {
        guard context.tapped.contains(.devices) else { return }
        context.report(.servicesChanged(device: ref.serial, server.database.tappedServices))
    }

    /// Records a fault that a step met, in the trace and for the taps.
    func recordFault(
        _ ref: Ref<Device>, _ step: DeviceFault.Step, _ effect: DeviceFault.Effect, _ context: inout WorldContext
    ) {
        context.trace.log(.fault(step, effect), of: description.name, at: context.now)
        context.report(.faultApplied(device: ref.serial, step, effect))
    }

    /// Reports an advertising packet and its scan response.
    func report(
        _ packet: AirPacket, _ receptions: [TappedAdvertisingPacket.Reception], missedBy: [Int],
        _ context: inout WorldContext
    ) {
        let set = advertiser.sets[packet.index].description
        func tapped(
            _ data: AdvertisingData, _ receptions: [TappedAdvertisingPacket.Reception], isScanResponse: Bool
        ) -> TappedAdvertisingPacket {
            TappedAdvertisingPacket(
                device: packet.device.serial, set: packet.index, address: identity.address,
                isScanResponse: isScanResponse, data: data, isConnectable: set.isConnectable,
                isExtended: set.isExtended, rssi: packet.rssi, receptions: receptions,
                missedBy: isScanResponse ? [] : missedBy)
        }
        context.report(.advertising(tapped(set.data, receptions, isScanResponse: false)))
        let scanning = receptions.filter(\.isScanning)
        guard let response = set.scanResponse, !scanning.isEmpty else { return }
        context.report(.advertising(tapped(response, scanning, isScanResponse: true)))
    }

    func tapped(_ ref: Ref<Device>) -> TappedDevice {
        TappedDevice(
            number: ref.serial, host: host, name: description.name, identityAddress: identity.identityAddress,
            address: identity.address, proximity: signal.proximity, rssi: signal.rssi, isOn: signal.isOn,
            advertising: advertiser.sets.map {
                TappedDevice.AdvertisingSet(description: $0.description, isEnabled: $0.isEnabled)
            })
    }
}
