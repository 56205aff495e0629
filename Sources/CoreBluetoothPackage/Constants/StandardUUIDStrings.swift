// swift-format-ignore-file: AlwaysUseLowerCamelCase

// UUIDs as text. Each line names the type of `CBDescriptor.value` for such a descriptor; for any other it is `Data`.
// Sources: Apple, CBUUID; Core Specification, Vol 3, Part G, 3.3.3; Assigned Numbers, section 3.7.

/// Characteristic Extended Properties, 2900: `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"

/// Characteristic User Description, 2901: `String`.
public let CBUUIDCharacteristicUserDescriptionString = "2901"

/// Client Characteristic Configuration, 2902: `NSNumber`.
public let CBUUIDClientCharacteristicConfigurationString = "2902"

/// Server Characteristic Configuration, 2903: `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString = "2903"

/// Characteristic Presentation Format, 2904: `Data`.
public let CBUUIDCharacteristicFormatString = "2904"

/// Characteristic Aggregate Format, 2905: `Data`.
public let CBUUIDCharacteristicAggregateFormatString = "2905"

/// Valid Range, 2906: `Data`.
public let CBUUIDCharacteristicValidRangeString = "2906"

/// Observation Schedule, 2910: `Data`.
public let CBUUIDCharacteristicObservationScheduleString = "2910"

/// A characteristic whose value is a PSM of an L2CAP channel, in two bytes, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
