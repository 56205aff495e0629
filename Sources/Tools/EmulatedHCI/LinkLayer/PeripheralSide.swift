import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch

/// A host outside of the emulator as the peripheral: its addresses, each of which is a device of the world.
// Invariant: used on the queue of the link layer only.
final class PeripheralSide: @unchecked Sendable {
    private unowned let layer: EmulatedLinkLayer
    let role: ExternalPeripheral
    private var devices: [HCIAddress: ExternalDevice] = [:]
    /// The addresses of the sets, by their numbers.
    private var addresses: [UInt8: HCIAddress] = [:]

    init(of layer: EmulatedLinkLayer) {
        self.layer = layer
        role = layer.host.makeExternalPeripheral()
        role.role.activate(
            PassingSink("EmulatedHCI") { [weak self, queue = layer.queue] event in
                queue.async { [weak self] in self?.handle(event) }
            })
    }

    func end() {
        removeAll()
        role.role.invalidate()
    }

    // MARK: Channels

    private func handle(_ event: PeripheralEvent) {
        switch event {
        case .channelOpened(let id, _, _, let credits): link(of: id)?.channels.opened(id, credits: credits)
        case .channel(let id, let event): link(of: id)?.channels.handle(event, on: id)
        default: break
        }
    }

    private func link(of channel: ChannelID) -> ExternalPeripheralLink? {
        devices.values.lazy.compactMap { $0.link(of: channel) }.first
    }

    // MARK: Advertising

    func advertise(_ set: UInt8, _ settings: LinkLayerCommand.AdvertisingSettings?) {
        let earlier = addresses[set].flatMap { devices[$0] }
        guard let settings else {
            earlier?.stopAdvertising(set)
            return
        }
        if let address = addresses[set], address != settings.address {
            earlier?.removeAdvertising(set)
            removeIfUnused(address)
        }
        addresses[set] = settings.address
        let device = devices[settings.address] ?? ExternalDevice(layer, settings.address, named: freeName)
        devices[settings.address] = device
        device.advertise(set, settings)
        publishNumbers()
    }

    /// Removes the device of an address without advertising sets and links.
    private func removeIfUnused(_ address: HCIAddress) {
        guard devices[address]?.isUnused == true else { return }
        devices.removeValue(forKey: address)?.remove()
        publishNumbers()
    }

    /// The name of the host, with a number if the host has a device with another address.
    private var freeName: String {
        let (name, taken) = (layer.host.name, Set(devices.values.map(\.name)))
        guard taken.contains(name) else { return name }
        let number = (2...taken.count + 1).first { !taken.contains("\(name) \($0)") }
        return "\(name) \(number ?? taken.count + 1)"
    }

    func removeAll() {
        for device in devices.values { device.remove() }
        (devices, addresses) = ([:], [:])
        publishNumbers()
    }

    private func publishNumbers() {
        ExternalHosts.shared.setDevices(Set(devices.values.compactMap(\.number)), of: layer)
    }

    // MARK: Links

    func link(_ handle: UInt16) -> ExternalPeripheralLink? { devices.values.lazy.compactMap { $0.link(handle) }.first }

    func link(number: UInt32) -> ExternalPeripheralLink? {
        devices.values.lazy.compactMap { $0.link(number: number) }.first
    }

    func opened(_ connection: TappedConnection) {
        for device in devices.values where device.number == connection.device { device.opened(connection) }
    }

    func closed(_ number: UInt32, _ reason: DisconnectReason) {
        for (address, device) in devices {
            device.closed(number, reason)
            removeIfUnused(address)
        }
    }

    /// Closes a link whose end is reported already.
    func forget(_ handle: UInt16) {
        guard let link = link(handle) else { return }
        for device in devices.values { device.forget(link) }
        link.close()
    }
}
