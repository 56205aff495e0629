/// The names that the Bluetooth SIG assigns to 16-bit numbers.
///
/// Each kind has a table of its own, which only a program that asks for such a name carries.
/// Source: Assigned Numbers, https://www.bluetooth.com/specifications/assigned-numbers/.
package enum AssignedNumbers {
    /// The name of a service: `Heart Rate` for 0x180D.
    package static func service(_ uuid: UInt16) -> String? { services[uuid] }

    /// The name of a characteristic: `Heart Rate Measurement` for 0x2A37.
    package static func characteristic(_ uuid: UInt16) -> String? { characteristics[uuid] }

    /// The name of a descriptor: `Client Characteristic Configuration` for 0x2902.
    package static func descriptor(_ uuid: UInt16) -> String? { descriptors[uuid] }

    /// The name of a service, characteristic or descriptor; their numbers do not overlap.
    package static func attribute(_ uuid: UInt16) -> String? {
        service(uuid) ?? characteristic(uuid) ?? descriptor(uuid)
    }

    /// The names of all services, characteristics and descriptors, sorted, each once.
    package static var attributeNames: [String] {
        Set(services.names + characteristics.names + descriptors.names).sorted()
    }

    /// The name of an appearance, else that of its category: `Heart Rate Belt` for 0x0341.
    package static func appearance(_ value: UInt16) -> String? { appearances[value] ?? appearances[value & ~0x3F] }

    /// The name of the company with an identifier: `Ruuvi Innovations Ltd.` for 0x0499.
    package static func company(_ identifier: UInt16) -> String? { companies[identifier] }
}
