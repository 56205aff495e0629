import CoreBluetoothPackage

extension Session {
    /// Prints a value of a characteristic.
    func show(_ value: Data, of characteristic: CBCharacteristic) {
        guard !console.isJSON else {
            return console.print(json: ValueRecord(characteristic, value, backend: emulatedBackend))
        }
        let text = AttributeText.value(value, of: characteristic.uuid)
        console.print("\(AttributeText.label(characteristic.uuid)): \(console.palette.value(text))")
    }
}
