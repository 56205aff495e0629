import CoreBluetoothPackage

extension Session {
    /// Prints a value of a characteristic.
    func show(_ value: Data, of characteristic: CBCharacteristic) {
        guard !console.isJSON else {
            return console.print(json: ValueRecord(characteristic, value, backend: emulatedBackend))
        }
        show(value, of: characteristic.uuid)
    }

    /// Prints a value of a descriptor.
    func show(_ value: Data, of descriptor: CBDescriptor, at characteristic: CBCharacteristic) {
        guard !console.isJSON else {
            var record = ValueRecord(characteristic, value, backend: emulatedBackend)
            record.descriptor = descriptor.uuid.uuidString
            record.handle = descriptor.handle.map { Int($0) }
            return console.print(json: record)
        }
        show(value, of: descriptor.uuid)
    }

    private func show(_ value: Data, of uuid: CBUUID) {
        console.print("\(AttributeText.label(uuid)): \(console.palette.value(AttributeText.value(value, of: uuid)))")
    }
}
