/// A method of a delegate, as a test names it: the last part of its name.
package enum DelegateMethod: String, CaseIterable, Sendable {
    // Of both managers.
    case didUpdateState, willRestoreState
    // CBCentralManagerDelegate
    case didDiscover, didConnect, didFailToConnect, didDisconnectPeripheral, connectionEventDidOccur
    case didUpdateANCSAuthorization
    // CBPeripheralDelegate
    case didUpdateName, didModifyServices, didReadRSSI, didDiscoverServices, didDiscoverIncludedServices
    case didDiscoverCharacteristics, didDiscoverDescriptors, didUpdateValue, didWriteValue
    case didUpdateNotificationState, didUpdateDescriptorValue, didWriteDescriptorValue
    case isReadyToSendWriteWithoutResponse
    // CBPeripheralDelegate and CBPeripheralManagerDelegate
    case didOpen
    // CBPeripheralManagerDelegate
    case didStartAdvertising, didAdd, didSubscribe, didUnsubscribe, isReadyToUpdateSubscribers
    case didReceiveRead, didReceiveWrite, didPublishL2CAPChannel, didUnpublishL2CAPChannel
    // CBPairingAgentDelegate
    case didReceivePairingRequest, didCancelPairingRequest, didPair, didFailToPair, didUnpair
}
