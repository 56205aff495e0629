package import BluetoothEmulator
import BluetoothSupport

extension DeviceRecording {
    /// The same recording without the device's address and serial numbers.
    package var redacted: DeviceRecording {
        guard !source.isRedacted else { return self }
        var copy = self
        copy.source.isRedacted = true
        copy.device.address = nil
        let redaction = Redaction(address: device.effectiveAddress, by: copy.device.effectiveAddress)
        for index in copy.device.advertising.indices {
            copy.device.advertising[index].data.redact { redaction.redacted($0) }
            copy.device.advertising[index].scanResponse?.redact { redaction.redacted($0) }
        }
        copy.events = events.map { $0.redacted(redaction) }
        return copy
    }
}

extension AdvertisingData {
    /// Replaces the data that identifies the device.
    mutating func redact(_ replace: (Data) -> Data) {
        serviceData = serviceData.mapValues(replace)
        manufacturerData = manufacturerData.map(replace)
        for index in otherStructures.indices { otherStructures[index].data = replace(otherStructures[index].data) }
    }
}

extension RecordedEvent {
    fileprivate func redacted(_ redaction: Redaction) -> RecordedEvent {
        var copy = self
        switch kind {
        case .request(var request):
            request.value = request.value.map { redaction.redacted($0, of: request.attribute) }
            copy.kind = .request(request)
        case .notified(let attribute, let value, var write):
            if let cause = write { write?.value = redaction.redacted(cause.value, of: cause.attribute) }
            copy.kind = .notified(attribute, redaction.redacted(value, of: attribute), after: write)
        case .advertised, .linkOpened, .linkClosed: break
        }
        return copy
    }
}
