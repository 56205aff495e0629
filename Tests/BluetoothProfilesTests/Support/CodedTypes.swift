import BluetoothProfiles

/// All standard types, including those without a characteristic.
let codedTypes: [any GATTValue.Type] =
    StandardValues.uuids.sorted().compactMap { StandardValues.type(of: $0) } + [
        SCControlPointRequest.self, SCControlPointResponse.self, ValidRange<MeasurementInterval>.self,
        ESTriggerSetting<Temperature>.self,
        MedicalFloat.self, Bool.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Int8.self, Int16.self,
        Int32.self, Int64.self, EddystoneTelemetry.self, BTHomeAdvertisement.self,
    ]
