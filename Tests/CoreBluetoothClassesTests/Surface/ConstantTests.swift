import CoreBluetoothClasses
import Testing

@Suite struct ConstantTests {
    @Test(arguments: [
        (CBErrorDomain, "CBErrorDomain"), (CBATTErrorDomain, "CBATTErrorDomain"),
        (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
        (CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel"),
        (CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs"),
        (CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData"),
        (CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData"),
        (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
        (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
        (CBAdvertisementDataSolicitedServiceUUIDsKey, "kCBAdvDataSolicitedServiceUUIDs"),
    ])
    func advertisementKeysAndDomainsAreApples(constant: String, text: String) {
        #expect(constant == text)
    }

    @Test(arguments: [
        (CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
        (CBCentralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
        (CBCentralManagerOptionDeviceAccessForMedia, "kCBInitOptionDeviceAccessForMedia"),
        (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
        (CBCentralManagerScanOptionSolicitedServiceUUIDsKey, "kCBScanOptionSolicitedServiceUUIDs"),
        (CBConnectPeripheralOptionNotifyOnConnectionKey, "kCBConnectOptionNotifyOnConnection"),
        (CBConnectPeripheralOptionNotifyOnDisconnectionKey, "kCBConnectOptionNotifyOnDisconnection"),
        (CBConnectPeripheralOptionNotifyOnNotificationKey, "kCBConnectOptionNotifyOnNotification"),
        (CBConnectPeripheralOptionStartDelayKey, "kCBConnectOptionStartDelay"),
        (CBConnectPeripheralOptionEnableTransportBridgingKey, "kCBConnectOptionEnableTransportBridging"),
        (CBConnectPeripheralOptionRequiresANCS, "kCBConnectOptionRequiresANCS"),
        (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
        (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
        (CBCentralManagerRestoredStateScanServicesKey, "kCBRestoredScanServices"),
        (CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"),
        (CBPeripheralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
        (CBPeripheralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
        (CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices"),
        (CBPeripheralManagerRestoredStateAdvertisementDataKey, "kCBRestoredAdvertisementData"),
    ])
    func managerKeysAreApples(constant: String, text: String) {
        #expect(constant == text)
    }

    @Test(arguments: [
        (CBUUIDCharacteristicExtendedPropertiesString, "2900"), (CBUUIDCharacteristicUserDescriptionString, "2901"),
        (CBUUIDClientCharacteristicConfigurationString, "2902"),
        (CBUUIDServerCharacteristicConfigurationString, "2903"), (CBUUIDCharacteristicFormatString, "2904"),
        (CBUUIDCharacteristicAggregateFormatString, "2905"), (CBUUIDCharacteristicValidRangeString, "2906"),
        (CBUUIDCharacteristicObservationScheduleString, "2910"),
        (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
    ])
    func standardUUIDStringsAreApplesAndAreUUIDs(constant: String, text: String) {
        #expect(constant == text)
        #expect(CBUUID(string: constant).uuidString == text)
    }

    @Test func keysOfOneDictionaryAreDistinct() {
        let central = [
            CBCentralManagerOptionShowPowerAlertKey, CBCentralManagerOptionRestoreIdentifierKey,
            CBCentralManagerOptionDeviceAccessForMedia,
        ]
        #expect(Set(central).count == central.count)
    }

    @Test func absoluteTimeCountsSecondsSince2001() {
        let time: CFAbsoluteTime = Date(timeIntervalSinceReferenceDate: 1.5).timeIntervalSinceReferenceDate
        #expect(time == 1.5)
    }

    /// Apps cast the values of an advertisement to all of these.
    @Test func numbersInADictionaryCastToSwiftTypes() {
        let data: [String: Any] = [
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: -12),
            CBAdvertisementDataIsConnectable: NSNumber(value: true),
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "180F"): Data([100])],
        ]
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -12)
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -12)
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
        #expect(data[CBAdvertisementDataIsConnectable] as? Int == 1)
        #expect((data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true)
        let serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        #expect(serviceData?[CBUUID(string: "0000180F-0000-1000-8000-00805F9B34FB")] == Data([100]))
    }

    @Test func aNumberThatIsNoTruthValueDoesNotCastToBool() {
        let data: [String: Any] = ["rssi": NSNumber(value: -40)]
        #expect(data["rssi"] as? Bool == nil)
    }
}
