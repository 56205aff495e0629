import BluetoothBackend
import BluetoothSupport

/// A control of a device, from a test, a tool or the device's own handler.
enum DeviceControl: Sendable {
    case notify(AttributeTarget, Data)
    /// Notifies before the present answer, to centrals that subscribed or not.
    case notifyAtOnce(CharacteristicPath, Data)
    case setValue(AttributeTarget, Data)
    case setParameter(DeviceParameter, Double)
    /// Adds a line of the handler to the trace.
    case note(String)
    /// Holds reads without an answer, or releases them.
    case hold(CharacteristicPath, Bool)
    /// Closes all links from the device's side; the apps receive the error.
    case disconnect(OpaqueError?)
    /// Falls silent: links end by supervision timeout.
    ///
    /// The device advertises again at once if `staysOnAir` is true.
    case lose(staysOnAir: Bool)
    indirect case setAdvertising(Int, AdvertisingDescription, firstPacket: Duration?)
    case enableAdvertising(Int?, Bool)
    case setProximity(Proximity)
    case setRSSI(Int?)
    indirect case addService(ServiceDescription)
    case removeService(BluetoothUUID, index: Int)
    /// Removes a service by its ``AttributePosition/service``.
    case removeServiceNumber(Int)
    /// Replaces all services, with their handles, by those of a host outside of the emulator, which checks accesses.
    indirect case replaceServices([TappedService], isIndicated: Bool)
    case rename(String, isAnnounced: Bool)
    case changeAddress(DeviceAddress)
    case rotateAddress
    indirect case setParameters(ConnectionParameters)
    case setPacketLoss(Double)
    indirect case setPairing(PairingDescription)
    /// Enters the passkey that a host outside of the emulator displays.
    case enterPasskey(Int)
    case loseBonds(DeviceAddress?)
    case exchangeMTU(Int)
    case failConnections(Int)
    indirect case inject(DeviceFault)
    /// Removes the faults of the same step, effect and characteristic.
    indirect case removeFault(DeviceFault)
    case clearFaults
    case resume
    case startTimer(Int, after: Duration, every: Duration?)
    case stopTimer(Int)
    case send(ChannelID, Data)
    case closeChannel(ChannelID)
    case remove

    /// Whether the control changes the device's address, which is reported with the change.
    var changesAddress: Bool {
        switch self {
        case .changeAddress, .rotateAddress: true
        default: false
        }
    }

    /// Whether the control changes the description of the device, which only the managers may do if a host owns the
    /// device.
    var changesDescription: Bool {
        switch self {
        case .hold, .disconnect, .lose, .setProximity, .setRSSI, .rename, .exchangeMTU, .failConnections, .inject,
            .removeFault, .clearFaults, .resume, .loseBonds, .rotateAddress, .setParameters, .setPacketLoss:
            false
        default: true
        }
    }
}

/// A control of a host, from a test or a tool.
enum HostControl: Sendable {
    case power(Bool)
    case authorize(AuthorizationStatus)
    /// Restarts the system's Bluetooth service, which returns after the duration.
    case reset(Duration)
    case plug(Bool)
    /// Overrides the state that managers see; nil restores the derived one.
    case setState(AdapterState?)
    case setMaximumMTU(Int?)
    /// Changes the address on the air to one that a host outside of the emulator chose.
    case setAirAddress(DeviceAddress)
    /// Sets the parameters of new links, which a host outside of the emulator chose.
    indirect case setLinkParameters(ConnectionParameters)
    /// Opens or closes a port, or reports whether a host outside of the emulator is attached to it.
    case setPort(HostPort?)
    indirect case setAdvertising(HostAdvertising)
    case rotateAddress
    case forget(PeerID)
    case remember(PeerID)
    case setFeature(BackendFeature, Bool)
    /// Terminates the app with a restore identifier, and preserves its state.
    case terminateApp(String)
    indirect case preserveCentral(RestoredCentralState, String)
    indirect case preservePeripheral(RestoredPeripheralState, String)
    case authorizeANCS(PeerID, Bool)
    /// Bonds with a device without a pairing.
    case bond(Ref<Device>)
    case removeBond(DeviceAddress)
    /// Connects another app of the host.
    case connectOtherApp(PeerID, withoutAdvertising: Bool)
    case disconnectOtherApp(PeerID)
    /// Ends the link of a central in the peripheral role.
    case disconnectCentral(PeerID, isForSecurity: Bool)
    /// Asks a connected central to encrypt the link.
    case requestSecurity(PeerID)
}

/// The inputs of the world, in order.
enum WorldInput: Sendable {
    case central(Ref<Manager>, CentralCommand)
    case peripheral(Ref<Manager>, PeripheralCommand)
    case activate(Ref<Manager>)
    indirect case pairing(Ref<Manager>, PairingCommand)
    indirect case device(Ref<Device>, DeviceControl)
    case host(Int, HostControl)
    indirect case configure(EmulatorConfiguration)
    /// Loses each packet with a chance; 0 ends that.
    case interference(Double)
    /// A device was added and begins to advertise.
    case deviceAdded(Ref<Device>)
    /// An asynchronous handler answered.
    indirect case answered(HandlerReply)
    /// A host outside of the emulator exchanges two packets with a device.
    case exchange(Ref<Manager>, LinkID, OperationID)
    /// A control of a link, by its number.
    indirect case link(UInt32, LinkControl)
}

/// A control of one link by a host outside of the emulator.
package enum LinkControl: Hashable, Sendable {
    /// Closes the link from the device's side, with the reason for the central.
    case close(DisconnectReason)
    /// Changes the parameters, which apply six connection events later.
    case setParameters(ConnectionParameters)
    /// Sets the security to which the two ends have agreed by themselves.
    case setSecurity(SecurityLevel)
    /// Asks the user of an emulated end a question of a pairing; a tap gets the answer.
    case askUser(LinkSide, PairingQuestion)
    /// Ends a pairing of the two ends, or reports that they are encrypted with the keys of an earlier one.
    case endPairing(ExternalPairingResult)
    /// Sends a value of the device to the central of the link, if it subscribes.
    case notify(AttributeID, Data)
    /// Sends an L2CAP packet from one host outside of the emulator to another one.
    case send(LinkSide, channel: UInt16, [UInt8])
}

/// The result of a pairing with a host outside of the emulator.
package enum ExternalPairingResult: Hashable, Sendable {
    case paired(isBonded: Bool, isAuthenticated: Bool)
    /// The link is encrypted with the keys of an earlier pairing.
    case resumed
    case failed(BackendError.Code)
}

/// The stages of a device's admission of a connect.
enum ConnectAdmission: Sendable {
    /// The device's packet was answered; its faults and its handler are still to be asked.
    case requested
    /// The device's faults have passed; its handler is still to be asked.
    case pastFault
    /// The device admits the connect.
    case granted
}

/// The events that are scheduled in the world.
///
/// The events have no reference-counted parts, because each read would retain them.
enum WorldEvent: Sendable {
    case reportState(Ref<Manager>)
    case adapterBack(Int, epoch: UInt32)
    /// A scan that started earlier receives its first packets.
    indirect case listen(Ref<Manager>, UInt64, ScanParameters)
    case advertise(AirPacket)
    /// The last packet of an advertising event ended; occurs only if packets collide.
    case advertisingEventOver(AirPacket)
    /// A connect leads to a link, if the device admits it.
    case established(Int, Ref<Device>, epoch: UInt32, ConnectAdmission)
    /// The answer to the request at the head of a link's queue arrives.
    case answer(Ref<Link>)
    /// The rest of a long value arrives.
    case finish(Ref<Link>)
    /// The next part of a long read reaches the manager that answers it.
    case continueRead(Ref<Link>)
    /// The connection parameters that the device asked for are in force.
    case changeParameters(Ref<Link>)
    /// Deferred operations of a link may be due.
    case performPostponed(Ref<Link>)
    /// The duration of an advertising set ended.
    case advertisingOver(Ref<Device>, set: Int, enabling: UInt32)
    case rotateAddress(Ref<Device>)
    case rotateHostAddress(Int)
    /// The write commands at the head of a link's queue are sent.
    case transmit(Ref<Link>)
    /// The device's notifications are sent.
    case peerTransmit(Ref<Link>)
    case supervision(Ref<Link>)
    case transactionTimeout(Ref<Link>)
    /// The bytes that one side sent on a channel are transmitted.
    case channelTransmit(ChannelID, LinkSide)
    /// The packets of a host outside of the emulator are sent to another one.
    case externalTransmit(Ref<Link>, LinkSide)
    /// A side may send more on a channel.
    case channelCredits(ChannelID, Int, to: LinkSide)
    case pairingFeatures(Ref<Link>, UInt64)
    case pairingKeys(Ref<Link>, UInt64)
    case pairingTimeout(Ref<Link>, UInt64)
    /// An app's pairing waited too long for a link.
    indirect case pairingLinkTimeout(Ref<Manager>, OperationID, PeerID, host: Int)
    /// A bonded device did not start encryption.
    indirect case encryptionTimeout(Int, PeerID, epoch: UInt32)
    /// A link ends, for a reason from the point of view of its host.
    case close(Ref<Link>, DisconnectReason)
    case reportLocal(Ref<Manager>, LinkID, epoch: UInt32)
    /// A link that was not ready for write commands becomes ready.
    case becomeReadyToWrite(Ref<Manager>, LinkID)
    case notifyTimer(Ref<Device>, AttributeID)
    case deviceTimer(Ref<Device>, Int, generation: UInt32)
    /// A step of the world's script.
    indirect case script(Int, WorldInput)
    case alarm(UInt64)
}

/// The outputs of the world, in order.
enum WorldOutput: Sendable {
    case central(Ref<Manager>, CentralEvent)
    case peripheral(Ref<Manager>, PeripheralEvent)
    case pairing(Ref<Manager>, PairingEvent)
    /// An alarm of the clock is due.
    case alarm(UInt64)
    indirect case call(HandlerCall)
    /// An event for the taps.
    indirect case tapped(TapEvent)
    /// A tap begins, with events that describe the present world.
    case tapBegins(UInt64, [TapEvent])

    var isForTaps: Bool {
        switch self {
        case .tapped, .tapBegins: true
        case .central, .peripheral, .pairing, .alarm, .call: false
        }
    }
}
