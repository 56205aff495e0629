import BluetoothProfiles
package import Foundation

/// A value of an advertisement, as it is published.
package struct AdvertisedReading: Sendable, Equatable {
    /// The kinds of values in Home Assistant.
    package enum Kind: Sendable, Equatable {
        /// A number or text that remains valid until the next one.
        case state
        /// A state that is on or off.
        case flag
        /// An event of one of the types, such as the press of a button.
        case event(types: [String])
    }

    /// The value's name in topics.
    package var id: String
    /// The value's name for people.
    package var name: String
    package var value: MeasuredValue
    package var kind = Kind.state
    package var unit: String?
    package var deviceClass: String?
    package var stateClass: String?
}

/// The values of an advertisement.
package struct AdvertisedContent: Sendable, Equatable {
    package var readings: [AdvertisedReading] = []
    /// The number of the packet, which repetitions share; nil if the format has no number.
    package var packet: Int?
    /// Whether the values are encrypted, and therefore missing.
    package var isEncrypted = false
}

extension AdvertisementRule {
    /// Returns the values of the bytes that ``bytes(in:address:)`` found.
    ///
    /// - Returns: nil for bytes of another format, or of a beacon that the rule does not accept.
    package func content(of bytes: Data) -> AdvertisedContent? {
        switch format {
        case .btHome: return (try? BTHomeAdvertisement(decoding: bytes)).map(AdvertisedContent.init)
        case .eddystone: return (try? EddystoneFrame(decoding: bytes)).map(AdvertisedContent.init)
        case .ruuvi:
            guard let measurement = try? RuuviMeasurement(decoding: bytes) else { return nil }
            return AdvertisedContent(measurement.fields, except: ["sequence", "address"])
        case .iBeacon:
            guard let beacon = beacon(in: bytes) else { return nil }
            return AdvertisedContent(beacon.fields, except: ["uuid"])
        case .serviceData: return rawContent(of: bytes)
        case .manufacturerData: return rawContent(of: bytes.dropFirst(2))
        }
    }

    /// Returns the part of a device's name in topics after the rule's name; nil for a beacon that the rule does not
    /// accept.
    func key(address: String?, bytes: Data) -> String? {
        guard case .iBeacon = format else {
            return address.map { $0.lowercased().filter { $0 != ":" } }
        }
        return beacon(in: bytes).map { "\($0.major)-\($0.minor)" }
    }

    private func beacon(in bytes: Data) -> IBeacon? {
        guard case .iBeacon(let uuid, let major, let minor) = format, let beacon = try? IBeacon(decoding: bytes),
            beacon.uuid == uuid, major == nil || major == beacon.major, minor == nil || minor == beacon.minor
        else { return nil }
        return beacon
    }

    private func rawContent(of bytes: Data) -> AdvertisedContent? {
        let readings = values.compactMap { value -> AdvertisedReading? in
            guard let measured = try? value.format.decode(Data(bytes)) else { return nil }
            return AdvertisedReading(
                id: value.id, name: value.name, value: measured, unit: value.unit, deviceClass: value.deviceClass,
                stateClass: value.stateClass)
        }
        return readings.isEmpty ? nil : AdvertisedContent(readings: readings)
    }
}

extension AdvertisedContent {
    fileprivate init(_ fields: [AdvertisedField], except names: Set<String> = []) {
        self.init()
        readings = fields.filter { !names.contains($0.name) }.map(AdvertisedReading.init)
    }

    fileprivate init(_ frame: EddystoneFrame) {
        switch frame {
        case .encryptedTelemetry: self.init(isEncrypted: true)
        case .uid, .url, .telemetry, .ephemeralIdentifier: self.init(frame.fields)
        }
    }

    fileprivate init(_ advertisement: BTHomeAdvertisement) {
        self.init(isEncrypted: advertisement.encrypted != nil)
        var counts: [String: Int] = [:]
        for measurement in advertisement.measurements {
            if measurement.name == "packet" {
                packet = measurement.bytes.first.map(Int.init)
                continue
            }
            // The second temperature of a device is `temperature-2`; a button that was not pressed counts, too.
            counts[measurement.name, default: 0] += 1
            guard var reading = AdvertisedReading(measurement) else { continue }
            if let count = counts[measurement.name], count > 1 {
                reading.id += "-\(count)"
                reading.name += " \(count)"
            }
            readings.append(reading)
        }
    }
}

extension AdvertisedReading {
    private static let buttonEvents = [
        "press", "double press", "triple press", "long press", "long double press", "long triple press", "hold press",
        "event",
    ]
    private static let dimmerEvents = ["rotate left", "rotate right", "event"]

    /// Creates a reading; nil for an event that did not happen.
    fileprivate init?(_ measurement: BTHomeMeasurement) {
        self.init(measurement.field)
        guard case .event(let event) = measurement.value else { return }
        guard event != "none" else { return nil }
        kind = .event(types: measurement.name == "button" ? Self.buttonEvents : Self.dimmerEvents)
    }

    fileprivate init(_ field: AdvertisedField) {
        id = Self.topicName(field.name)
        name = field.name.prefix(1).uppercased() + field.name.dropFirst()
        unit = field.unit
        switch field.value {
        case .number(let number, digits: 0):
            value = Int64(exactly: number).map(MeasuredValue.integer) ?? .number(number)
        case .number(let number, _): value = .number(number)
        case .text(let text): value = .text(text)
        case .flag(let flag):
            value = .flag(flag)
            kind = .flag
        }
        deviceClass = Self.deviceClass(field.name, unit: unit, isFlag: kind == .flag)
        guard case .number = field.value else { return }
        stateClass = ["energy", "gas", "water"].contains(field.name) ? "total_increasing" : "measurement"
    }

    /// Returns a name as a level of a topic: `power-at-1-m` for `power at 1 m`.
    private static func topicName(_ name: String) -> String {
        String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    /// Returns Home Assistant's `device_class`.
    ///
    /// BTHome's "safe" has none: the class of that name means the contrary in Home Assistant.
    private static func deviceClass(_ name: String, unit: String?, isFlag: Bool) -> String? {
        switch (name, unit) {
        case ("battery", "mV"): "voltage"
        case (let name, _): isFlag ? flagClasses[name] : numberClasses[name]
        }
    }

    private static let numberClasses = [
        "temperature": "temperature", "dew point": "temperature", "humidity": "humidity", "pressure": "pressure",
        "battery": "battery", "illuminance": "illuminance", "luminosity": "illuminance", "mass": "weight",
        "energy": "energy", "power": "power", "voltage": "voltage", "current": "current", "PM2.5": "pm25",
        "PM10": "pm10", "CO2": "carbon_dioxide", "TVOC": "volatile_organic_compounds", "moisture": "moisture",
        "distance": "distance", "duration": "duration", "speed": "speed",
        "tx power": "signal_strength", "power at 1 m": "signal_strength", "power at 0 m": "signal_strength",
    ]

    private static let flagClasses = [
        "power on": "power", "opening": "opening", "battery low": "battery", "battery charging": "battery_charging",
        "carbon monoxide": "carbon_monoxide", "cold": "cold", "connectivity": "connectivity", "door open": "door",
        "garage door open": "garage_door", "gas detected": "gas", "heat": "heat", "light": "light", "unlocked": "lock",
        "moisture detected": "moisture", "motion": "motion", "moving": "moving", "occupancy": "occupancy",
        "plugged in": "plug", "presence": "presence", "problem": "problem", "running": "running", "smoke": "smoke",
        "sound": "sound", "tampered": "tamper", "vibration": "vibration", "window open": "window",
    ]
}
