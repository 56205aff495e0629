import BluetoothBackend
package import BluetoothEmulator
package import BluetoothHCI

// The values of declarations: Core Specification, Vol 3, Part G, 3.2 and 3.3.1.

extension TappedService.Include {
    /// The declaration, whose value contains a UUID of 16 bits alone.
    package var declaration: ATTPDU.HandleAndValue {
        let shortUUID = uuid.attWidth == 2 ? uuid.attBytes : []
        return ATTPDU.HandleAndValue(handle, handles.lowerBound.bytes + handles.upperBound.bytes + shortUUID)
    }
}

extension TappedCharacteristic {
    /// The declaration, whose value contains the properties, the handle of the value, and the UUID.
    package var declaration: ATTPDU.HandleAndValue {
        ATTPDU.HandleAndValue(
            declarationHandle, [UInt8(truncatingIfNeeded: properties.rawValue)] + valueHandle.bytes + uuid.attBytes)
    }

    /// Reads a declaration; the characteristic has no descriptors.
    ///
    /// - Returns: nil for a value of a wrong length.
    package init?(_ declaration: ATTPDU.HandleAndValue) {
        var cursor = ByteCursor(declaration.value)
        guard let properties = cursor.byte(), let valueHandle = cursor.littleEndian(UInt16.self),
            let uuid = BluetoothUUID(attBytes: cursor.rest)
        else { return nil }
        self.init(
            declarationHandle: declaration.handle, valueHandle: valueHandle,
            properties: CharacteristicProperties(rawValue: UInt16(properties)), uuid: uuid, descriptors: [])
    }
}
