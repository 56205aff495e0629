package import BluetoothBackend

/// A host, as a tap reports it.
package struct TappedHost: Hashable, Sendable {
    package let index: Int
    package let name: String
    /// Whether the host was created for a peripheral manager that named no host.
    package let isAnonymous: Bool
    package let identityAddress: DeviceAddress
    /// The address on the air.
    package let address: DeviceAddress
    /// The state that managers see.
    package let state: AdapterState
    package let isPowered: Bool
    package let isPlugged: Bool
    package let isResetting: Bool
    package let authorization: AuthorizationStatus
    /// Whether a Bluetooth stack outside of the emulator takes the place of managers.
    package let isExternal: Bool
    /// The open port of such a host.
    package let port: HostPort?
}

/// The open port of a host outside of the emulator.
package struct HostPort: Hashable, Sendable {
    package let address: HCIPortAddress
    /// Whether a Bluetooth stack is attached.
    package let isAttached: Bool

    package init(address: HCIPortAddress, isAttached: Bool) { (self.address, self.isAttached) = (address, isAttached) }
}

/// A device, as a tap reports it: a described device, or the one that the peripheral managers of a host form.
package struct TappedDevice: Hashable, Sendable {
    package let number: UInt32
    /// The host whose peripheral managers form the device; nil for a described device.
    package let host: Int?
    package let name: String
    package let identityAddress: DeviceAddress
    /// The address on the air.
    package let address: DeviceAddress
    package let proximity: Proximity
    /// The mean signal strength that a test set, in dBm; nil uses the proximity's.
    package let rssi: Int?
    /// Whether the host behind the device is on; true for a described device.
    package let isOn: Bool
    package let advertising: [AdvertisingSet]

    package struct AdvertisingSet: Hashable, Sendable {
        package let description: AdvertisingDescription
        package let isEnabled: Bool
    }
}

/// A service of a device's database, with its attributes in the order of their handles.
package struct TappedService: Hashable, Sendable {
    /// The handles from the declaration to the last attribute.
    package let handles: ClosedRange<UInt16>
    package let uuid: BluetoothUUID
    package let isPrimary: Bool
    package var included: [Include]
    package var characteristics: [TappedCharacteristic]

    package init(
        handles: ClosedRange<UInt16>, uuid: BluetoothUUID, isPrimary: Bool, included: [Include],
        characteristics: [TappedCharacteristic]
    ) {
        (self.handles, self.uuid, self.isPrimary) = (handles, uuid, isPrimary)
        (self.included, self.characteristics) = (included, characteristics)
    }

    /// An include declaration.
    package struct Include: Hashable, Sendable {
        /// The handle of the declaration.
        package let handle: UInt16
        /// The handles of the included service's attributes.
        package let handles: ClosedRange<UInt16>
        package let uuid: BluetoothUUID

        package init(handle: UInt16, handles: ClosedRange<UInt16>, uuid: BluetoothUUID) {
            (self.handle, self.handles, self.uuid) = (handle, handles, uuid)
        }
    }
}

package struct TappedCharacteristic: Hashable, Sendable {
    package let declarationHandle: UInt16
    package let valueHandle: UInt16
    /// The properties in the declaration, without extended ones.
    package let properties: CharacteristicProperties
    package let uuid: BluetoothUUID
    package var descriptors: [TappedDescriptor]

    package init(
        declarationHandle: UInt16, valueHandle: UInt16, properties: CharacteristicProperties, uuid: BluetoothUUID,
        descriptors: [TappedDescriptor]
    ) {
        (self.declarationHandle, self.valueHandle) = (declarationHandle, valueHandle)
        (self.properties, self.uuid, self.descriptors) = (properties, uuid, descriptors)
    }
}

package struct TappedDescriptor: Hashable, Sendable {
    package let handle: UInt16
    package let uuid: BluetoothUUID

    package init(handle: UInt16, uuid: BluetoothUUID) { (self.handle, self.uuid) = (handle, uuid) }
}

/// One advertising packet or scan response on the air.
///
/// A set without a listening host sends no packets. The flags of the Advertising Data are not part of ``data``.
package struct TappedAdvertisingPacket: Hashable, Sendable {
    package let device: UInt32
    /// The index of the advertising set.
    package let set: Int
    /// The address on the air; see ``DeviceAddress/isRandom``.
    package let address: DeviceAddress
    /// Whether the packet is a scan response, which follows the advertisement that a scan request answered.
    package let isScanResponse: Bool
    package let data: AdvertisingData
    package let isConnectable: Bool
    package let isExtended: Bool
    /// The signal strength at the hosts, in dBm.
    package let rssi: Int
    /// The hosts that received the packet.
    package let receptions: [Reception]
    /// The hosts that listened but missed the packet.
    package let missedBy: [Int]

    /// A host that received a packet.
    package struct Reception: Hashable, Sendable {
        package let host: Int
        /// The identifier under which the host knows the device.
        package let peer: PeerID
        /// Whether the host scans; if not, it waits for the packet to connect.
        package let isScanning: Bool
    }
}
