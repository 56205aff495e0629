import BluetoothHCI

/// The default control pipe of a dongle: the requests of the USB specification, and HCI commands.
///
/// Source: Universal Serial Bus Specification 2.0, 9.4; Core Specification, Vol 4, Part B, 2.2.
struct USBControlPipe: Sendable {
    /// The outcome of a request.
    enum Outcome: Hashable, Sendable {
        case accepted
        /// Bytes for the host, which takes as many as it wants.
        case data([UInt8])
        /// An HCI command, which the controller checks.
        case command([UInt8])
        case stalled
    }

    /// The eight bytes that begin a request.
    private struct Setup {
        let recipient: UInt8
        let kind: UInt8
        let isIn: Bool
        let request: UInt8
        let value: UInt16
        let index: UInt16
        let length: UInt16

        init?(_ bytes: [UInt8]) {
            var cursor = ByteCursor(bytes)
            guard let type = cursor.byte(), let request = cursor.byte(), let value = cursor.littleEndian(UInt16.self),
                let index = cursor.littleEndian(UInt16.self), let length = cursor.littleEndian(UInt16.self)
            else { return nil }
            (recipient, kind, isIn) = (type & 0x1F, type >> 5 & 3, type & 0x80 != 0)
            (self.request, self.value, self.index, self.length) = (request, value, index, length)
        }
    }

    private var configuration: UInt8 = 0
    /// The addresses of the halted endpoints, whose transfers stall.
    private var halted: Set<UInt8> = []

    /// Whether an endpoint transfers data.
    func isReady(_ address: UInt8) -> Bool { isConfigured && !halted.contains(address) }

    private var isConfigured: Bool { configuration == USBDescriptors.configurationValue }

    /// Performs a request.
    mutating func perform(_ transfer: USBTransfer) -> Outcome {
        guard let setup = Setup(transfer.setup) else { return .stalled }
        // A request without data has no direction.
        if setup.length > 0, setup.isIn != transfer.isIn { return .stalled }
        switch (setup.kind, setup.recipient, setup.isIn) {
        case (0, _, true): return answer(setup)
        case (0, _, false): return change(setup) ? .accepted : .stalled
        // The recipient is the device, or the interface as in composite devices; the number of the request has varied.
        case (1, Recipient.device...Recipient.interface, false): return .command(transfer.data)
        default: return .stalled
        }
    }

    private func answer(_ setup: Setup) -> Outcome {
        let data: [UInt8]?
        switch (setup.request, setup.recipient) {
        case (Request.getStatus, _): data = status(setup)
        case (Request.getDescriptor, Recipient.device): data = descriptor(setup.value)
        case (Request.getConfiguration, Recipient.device): data = [configuration]
        case (Request.getInterface, Recipient.interface):
            data = isConfigured && setup.index == 0 ? [0] : nil
        default: data = nil
        }
        return data.map { .data(Array($0.prefix(Int(setup.length)))) } ?? .stalled
    }

    private func descriptor(_ value: UInt16) -> [UInt8]? {
        let (kind, index) = (value >> 8, UInt8(value & 0xFF))
        return switch (kind, index) {
        case (1, 0): USBDescriptors.device
        case (2, 0): USBDescriptors.configuration
        case (3, _): USBDescriptors.string(index)
        default: nil
        }
    }

    /// Powered by the bus, without remote wake-up; an interface has no status; an endpoint is halted or not.
    private func status(_ setup: Setup) -> [UInt8]? {
        switch setup.recipient {
        case Recipient.device: [0, 0]
        case Recipient.interface: isConfigured && setup.index == 0 ? [0, 0] : nil
        case Recipient.endpoint: endpoint(setup).map { [halted.contains($0) ? 1 : 0, 0] }
        default: nil
        }
    }

    /// Returns the address of the endpoint that a request names; nil if the device does not have it now.
    private func endpoint(_ setup: Setup) -> UInt8? {
        let address = UInt8(setup.index & 0xFF)
        switch address {
        case 0, 0x80: return address
        case 0x80 | USBDescriptors.eventEndpoint, 0x80 | USBDescriptors.dataEndpoint, USBDescriptors.dataEndpoint:
            return isConfigured ? address : nil
        default: return nil
        }
    }

    /// - Returns: Whether the device supports the request.
    private mutating func change(_ setup: Setup) -> Bool {
        switch (setup.request, setup.recipient) {
        // The host controller addresses the device.
        case (Request.setAddress, Recipient.device): return setup.value < 128
        case (Request.setConfiguration, Recipient.device):
            guard setup.value <= USBDescriptors.configurationValue else { return false }
            (configuration, halted) = (UInt8(setup.value), [])
            return true
        case (Request.setInterface, Recipient.interface):
            guard isConfigured, setup.index == 0, setup.value == 0 else { return false }
            halted = []
            return true
        // ENDPOINT_HALT is the only feature.
        case (Request.setFeature, Recipient.endpoint), (Request.clearFeature, Recipient.endpoint):
            guard setup.value == 0, let address = endpoint(setup) else { return false }
            // The default control pipe is never halted.
            guard address & 0x0F != 0 else { return setup.request == Request.clearFeature }
            if setup.request == Request.setFeature { halted.insert(address) } else { halted.remove(address) }
            return true
        default: return false
        }
    }

    private enum Recipient {
        static let device: UInt8 = 0
        static let interface: UInt8 = 1
        static let endpoint: UInt8 = 2
    }

    /// The numbers of the standard requests.
    private enum Request {
        static let getStatus: UInt8 = 0
        static let clearFeature: UInt8 = 1
        static let setFeature: UInt8 = 3
        static let setAddress: UInt8 = 5
        static let getDescriptor: UInt8 = 6
        static let getConfiguration: UInt8 = 8
        static let setConfiguration: UInt8 = 9
        static let getInterface: UInt8 = 10
        static let setInterface: UInt8 = 11
    }
}
