#if os(Linux)
import BluetoothDBus

/// The interfaces of BlueZ in one of its versions.
struct BlueZInterfaces: Sendable {
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let bearer = "org.bluez.Bearer.LE1"
    static let battery = "org.bluez.Battery1"
    static let batteryProviderManager = "org.bluez.BatteryProviderManager1"
    static let service = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let descriptor = "org.bluez.GattDescriptor1"
    static let gattManager = "org.bluez.GattManager1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let monitorManager = "org.bluez.AdvertisementMonitorManager1"
    static let agentManager = "org.bluez.AgentManager1"
    static let profileManager = "org.bluez.ProfileManager1"

    private let definitions: [String: InterfaceDefinition]

    init(_ configuration: EmulatedBlueZConfiguration) {
        let (dialect, isExperimental) = (configuration.dialect, configuration.isExperimental)
        let all = [
            Self.makeAdapter(dialect), Self.makeDevice(dialect, isExperimental), Self.makeBearer(isExperimental),
            Self.makeBattery(configuration), Self.makeService(dialect), Self.makeCharacteristic(dialect),
            Self.makeDescriptor(dialect), Self.makeAdvertisingManager(dialect),
            StandardInterface.introspectable, StandardInterface.properties, StandardInterface.objectManager,
        ]
        definitions = Dictionary(uniqueKeysWithValues: (all + Self.managers).map { ($0.name, $0) })
    }

    var names: [String] { definitions.keys.sorted() }

    subscript(name: String) -> InterfaceDefinition? { definitions[name] }

    private static func makeAdapter(_ dialect: BlueZDialect) -> InterfaceDefinition {
        var adapter = InterfaceDefinition(adapter)
            .method("StartDiscovery").method("StopDiscovery")
            .method("SetDiscoveryFilter", ["properties": "a{sv}"])
            .method("GetDiscoveryFilters", returning: ["filters": "as"])
            .method("RemoveDevice", ["device": "o"])
            .property("Address", "s").property("AddressType", "s").property("Name", "s")
            .property("Alias", "s", isWritable: true).property("Class", "u")
            .property("Powered", "b", isWritable: true).property("Discoverable", "b", isWritable: true)
            .property("DiscoverableTimeout", "u", isWritable: true).property("Pairable", "b", isWritable: true)
            .property("PairableTimeout", "u", isWritable: true).property("Discovering", "b")
            .property("UUIDs", "as").property("Modalias", "s").property("Roles", "as")
            .property("ExperimentalFeatures", "as")
        if dialect >= .bluez5_82 {
            adapter =
                adapter.property("PowerState", "s").property("Connectable", "b", isWritable: true)
                .property("Manufacturer", "q").property("Version", "y")
        }
        return adapter
    }

    private static func makeDevice(_ dialect: BlueZDialect, _ isExperimental: Bool) -> InterfaceDefinition {
        var device = InterfaceDefinition(device)
            .method("Connect").method("Disconnect").method("ConnectProfile", ["UUID": "s"])
            .method("DisconnectProfile", ["UUID": "s"]).method("Pair").method("CancelPairing")
            .property("Address", "s").property("AddressType", "s").property("Name", "s")
            .property("Alias", "s", isWritable: true).property("Icon", "s").property("Class", "u")
            .property("Appearance", "q").property("UUIDs", "as").property("Paired", "b").property("Bonded", "b")
            .property("Trusted", "b", isWritable: true).property("Blocked", "b", isWritable: true)
            .property("LegacyPairing", "b").property("RSSI", "n").property("Connected", "b")
            .property("Adapter", "o").property("ManufacturerData", "a{qv}").property("ServiceData", "a{sv}")
            .property("TxPower", "n").property("ServicesResolved", "b")
            .property("WakeAllowed", "b", isWritable: true).property("Modalias", "s")
        if dialect >= .bluez5_82 {
            // No device has sets, which need a plug-in of LE Audio that is experimental.
            device =
                device.property("AdvertisingFlags", "ay").property("AdvertisingData", "a{yv}")
                .property("Sets", "a{oa{sv}}")
            // A device with one bearer has no value for it.
            if isExperimental { device = device.property("PreferredBearer", "s", isWritable: true) }
        }
        if dialect >= .bluez5_87 {
            device = device.signal("Disconnected", ["name": "s", "message": "s"]).property("CablePairing", "b")
        }
        return device
    }

    /// The bearer's interface, of which only the signal is not experimental.
    private static func makeBearer(_ isExperimental: Bool) -> InterfaceDefinition {
        let bearer = InterfaceDefinition(bearer).signal("Disconnected", ["name": "s", "message": "s"])
        guard isExperimental else { return bearer }
        return bearer.method("Connect").method("Disconnect").property("Adapter", "o").property("Paired", "b")
            .property("Bonded", "b").property("Connected", "b")
    }

    private static func makeBattery(_ configuration: EmulatedBlueZConfiguration) -> InterfaceDefinition {
        let battery = InterfaceDefinition(battery).property("Percentage", "y")
        return configuration.hasBatteryProviders ? battery.property("Source", "s") : battery
    }

    private static func makeService(_ dialect: BlueZDialect) -> InterfaceDefinition {
        let service = InterfaceDefinition(service)
            .property("UUID", "s").property("Device", "o").property("Primary", "b").property("Includes", "ao")
        return dialect >= .bluez5_82 ? service.property("Handle", "q") : service
    }

    private static func makeCharacteristic(_ dialect: BlueZDialect) -> InterfaceDefinition {
        let characteristic = InterfaceDefinition(characteristic)
            .method("ReadValue", ["options": "a{sv}"], returning: ["value": "ay"])
            .method("WriteValue", ["value": "ay", "options": "a{sv}"])
            .method("AcquireWrite", ["options": "a{sv}"], returning: ["fd": "h", "mtu": "q"])
            .method("AcquireNotify", ["options": "a{sv}"], returning: ["fd": "h", "mtu": "q"])
            .method("StartNotify").method("StopNotify")
            .property("UUID", "s").property("Service", "o").property("Value", "ay").property("Notifying", "b")
            .property("Flags", "as").property("WriteAcquired", "b").property("NotifyAcquired", "b")
            .property("MTU", "q")
        return dialect >= .bluez5_82 ? characteristic.property("Handle", "q") : characteristic
    }

    private static func makeDescriptor(_ dialect: BlueZDialect) -> InterfaceDefinition {
        let descriptor = InterfaceDefinition(descriptor)
            .method("ReadValue", ["options": "a{sv}"], returning: ["value": "ay"])
            .method("WriteValue", ["value": "ay", "options": "a{sv}"])
            .property("UUID", "s").property("Characteristic", "o").property("Value", "ay")
        return dialect >= .bluez5_82 ? descriptor.property("Handle", "q") : descriptor
    }

    private static func makeAdvertisingManager(_ dialect: BlueZDialect) -> InterfaceDefinition {
        let manager = InterfaceDefinition(advertisingManager)
            .method("RegisterAdvertisement", ["advertisement": "o", "options": "a{sv}"])
            .method("UnregisterAdvertisement", ["service": "o"])
            .property("ActiveInstances", "y").property("SupportedInstances", "y").property("SupportedIncludes", "as")
            .property("SupportedSecondaryChannels", "as")
        guard dialect >= .bluez5_82 else { return manager }
        return manager.property("SupportedFeatures", "as")
            .property("SupportedCapabilities", "a{sv}")
    }

    /// The managers' interfaces that are the same in every version.
    private static let managers: [InterfaceDefinition] = [
        InterfaceDefinition(gattManager)
            .method("RegisterApplication", ["application": "o", "options": "a{sv}"])
            .method("UnregisterApplication", ["application": "o"]),
        InterfaceDefinition(monitorManager)
            .method("RegisterMonitor", ["application": "o"]).method("UnregisterMonitor", ["application": "o"])
            .property("SupportedMonitorTypes", "as").property("SupportedFeatures", "as"),
        InterfaceDefinition(batteryProviderManager)
            .method("RegisterBatteryProvider", ["provider": "o"])
            .method("UnregisterBatteryProvider", ["provider": "o"]),
        InterfaceDefinition(agentManager)
            .method("RegisterAgent", ["agent": "o", "capability": "s"]).method("UnregisterAgent", ["agent": "o"])
            .method("RequestDefaultAgent", ["agent": "o"]),
        InterfaceDefinition(profileManager)
            .method("RegisterProfile", ["profile": "o", "UUID": "s", "options": "a{sv}"])
            .method("UnregisterProfile", ["profile": "o"]),
    ]
}
#endif
