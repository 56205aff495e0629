public import CoreBluetoothClasses
import Foundation

/// A call of a delegate method, as a test expects it.
///
/// Each constant is named after the last part of the method's name in Apple's protocols: ``didUpdateNotificationState``
/// is `peripheral(_:didUpdateNotificationStateFor:error:)`. A constant for a method that both roles have, such as
/// ``didUpdateState``, means either; ``from(_:)-(CBPeer)`` and ``of(_:)-(CBUUID)`` distinguish callbacks.
public struct DelegateCallback: Hashable, Sendable, CustomStringConvertible {
    let method: DelegateMethod
    private var identifier: UUID?
    private(set) var attribute: CBUUID?
    private(set) var isFailure: Bool?

    init(_ method: DelegateMethod) { self.method = method }

    /// Limits the callback to a peripheral or central.
    public func from(_ peer: CBPeer) -> DelegateCallback { from(peer.identifier) }

    /// Limits the callback to the peripheral or central with an identifier.
    public func from(_ identifier: UUID) -> DelegateCallback { with(\.identifier, identifier) }

    /// Limits the callback to services, characteristics or descriptors with a UUID.
    ///
    /// A discovery within a service counts as one of that service. A callback that reports several attributes counts
    /// for each of them: ``didModifyServices``, and ``didReceiveWrite`` after a prepared write.
    public func of(_ uuid: CBUUID) -> DelegateCallback { with(\.attribute, uuid) }

    /// Limits the callback to services, characteristics or descriptors with a UUID.
    ///
    /// - Parameter uuid: 4 or 8 hexadecimal digits, or the long form; traps on anything else, as `CBUUID(string:)`
    ///   does.
    public func of(_ uuid: String) -> DelegateCallback { of(CBUUID(string: uuid)) }

    /// The callback with an error.
    public var failing: DelegateCallback { with(\.isFailure, true) }

    /// The callback without an error.
    public var succeeding: DelegateCallback { with(\.isFailure, false) }

    private func with<Limit>(_ property: WritableKeyPath<Self, Limit?>, _ limit: Limit) -> DelegateCallback {
        var copy = self
        copy[keyPath: property] = limit
        return copy
    }

    /// The method's name, and its limits.
    public var description: String {
        var text = method.rawValue
        if let attribute { text += " of \(attribute.uuidString)" }
        if let identifier { text += " from \(identifier)" }
        if let isFailure { text += isFailure ? ", failing" : ", succeeding" }
        return text
    }

    func concerns(_ identifier: UUID) -> Bool { (self.identifier ?? identifier) == identifier }

    func matches(_ callback: DeliveredCallback) -> Bool {
        method == callback.method && (identifier == nil || identifier == callback.identifier)
            && (attribute.map(callback.attributes.contains) ?? true)
            && (isFailure == nil || isFailure == (callback.error != nil))
    }
}

extension DelegateCallback {
    /// `centralManagerDidUpdateState(_:)` or `peripheralManagerDidUpdateState(_:)`.
    public static let didUpdateState = DelegateCallback(.didUpdateState)
    /// `centralManager(_:willRestoreState:)` or `peripheralManager(_:willRestoreState:)`.
    public static let willRestoreState = DelegateCallback(.willRestoreState)
    /// `centralManager(_:didDiscover:advertisementData:rssi:)`.
    public static let didDiscover = DelegateCallback(.didDiscover)
    /// `centralManager(_:didConnect:)`.
    public static let didConnect = DelegateCallback(.didConnect)
    /// `centralManager(_:didFailToConnect:error:)`.
    public static let didFailToConnect = DelegateCallback(.didFailToConnect)
    /// `centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)` or the older form.
    public static let didDisconnectPeripheral = DelegateCallback(.didDisconnectPeripheral)
    /// `centralManager(_:connectionEventDidOccur:for:)`.
    public static let connectionEventDidOccur = DelegateCallback(.connectionEventDidOccur)
    /// `centralManager(_:didUpdateANCSAuthorizationFor:)`.
    public static let didUpdateANCSAuthorization = DelegateCallback(.didUpdateANCSAuthorization)

    /// `peripheralDidUpdateName(_:)`.
    public static let didUpdateName = DelegateCallback(.didUpdateName)
    /// `peripheral(_:didModifyServices:)`.
    public static let didModifyServices = DelegateCallback(.didModifyServices)
    /// `peripheral(_:didReadRSSI:error:)`.
    public static let didReadRSSI = DelegateCallback(.didReadRSSI)
    /// `peripheral(_:didDiscoverServices:)`.
    public static let didDiscoverServices = DelegateCallback(.didDiscoverServices)
    /// `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    public static let didDiscoverIncludedServices = DelegateCallback(.didDiscoverIncludedServices)
    /// `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    public static let didDiscoverCharacteristics = DelegateCallback(.didDiscoverCharacteristics)
    /// `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    public static let didDiscoverDescriptors = DelegateCallback(.didDiscoverDescriptors)
    /// `peripheral(_:didUpdateValueFor:error:)` of a characteristic.
    public static let didUpdateValue = DelegateCallback(.didUpdateValue)
    /// `peripheral(_:didWriteValueFor:error:)` of a characteristic.
    public static let didWriteValue = DelegateCallback(.didWriteValue)
    /// `peripheral(_:didUpdateNotificationStateFor:error:)`.
    public static let didUpdateNotificationState = DelegateCallback(.didUpdateNotificationState)
    /// `peripheral(_:didUpdateValueFor:error:)` of a descriptor.
    public static let didUpdateDescriptorValue = DelegateCallback(.didUpdateDescriptorValue)
    /// `peripheral(_:didWriteValueFor:error:)` of a descriptor.
    public static let didWriteDescriptorValue = DelegateCallback(.didWriteDescriptorValue)
    /// `peripheralIsReady(toSendWriteWithoutResponse:)`.
    public static let isReadyToSendWriteWithoutResponse = DelegateCallback(.isReadyToSendWriteWithoutResponse)
    /// `peripheral(_:didOpen:error:)` or `peripheralManager(_:didOpen:error:)`.
    public static let didOpen = DelegateCallback(.didOpen)

    /// `peripheralManagerDidStartAdvertising(_:error:)`.
    public static let didStartAdvertising = DelegateCallback(.didStartAdvertising)
    /// `peripheralManager(_:didAdd:error:)`.
    public static let didAdd = DelegateCallback(.didAdd)
    /// `peripheralManager(_:central:didSubscribeTo:)`.
    public static let didSubscribe = DelegateCallback(.didSubscribe)
    /// `peripheralManager(_:central:didUnsubscribeFrom:)`.
    public static let didUnsubscribe = DelegateCallback(.didUnsubscribe)
    /// `peripheralManagerIsReady(toUpdateSubscribers:)`.
    public static let isReadyToUpdateSubscribers = DelegateCallback(.isReadyToUpdateSubscribers)
    /// `peripheralManager(_:didReceiveRead:)`.
    public static let didReceiveRead = DelegateCallback(.didReceiveRead)
    /// `peripheralManager(_:didReceiveWrite:)`.
    public static let didReceiveWrite = DelegateCallback(.didReceiveWrite)
    /// `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    public static let didPublishL2CAPChannel = DelegateCallback(.didPublishL2CAPChannel)
    /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    public static let didUnpublishL2CAPChannel = DelegateCallback(.didUnpublishL2CAPChannel)

    /// `pairingAgent(_:didReceive:)`.
    public static let didReceivePairingRequest = DelegateCallback(.didReceivePairingRequest)
    /// `pairingAgent(_:didCancel:)`.
    public static let didCancelPairingRequest = DelegateCallback(.didCancelPairingRequest)
    /// `pairingAgent(_:didPairWith:isBonded:)`.
    public static let didPair = DelegateCallback(.didPair)
    /// `pairingAgent(_:didFailToPairWith:error:)`.
    public static let didFailToPair = DelegateCallback(.didFailToPair)
    /// `pairingAgent(_:didUnpairFrom:)`.
    public static let didUnpair = DelegateCallback(.didUnpair)
}
