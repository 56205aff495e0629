import BluetoothBackend
import BluetoothSupport

/// An action of a test, a tool or a device's own handler on a device.
enum DeviceControl: Sendable {
    case notify(AttributeTarget, Data)
    /// Ahead of the answer under way, and whether anybody subscribed or not.
    case notifyAtOnce(CharacteristicPath, Data)
    case setValue(AttributeTarget, Data)
    case setParameter(DeviceParameter, Double)
    /// A line of the handler's for the trace.
    case note(String)
    /// Reads are not answered while held.
    case hold(CharacteristicPath, Bool)
    /// Closes all links, as the device; the apps get the error.
    case disconnect(OpaqueError?)
    /// Falls silent: links die by supervision timeout.
    ///
    /// The device is on the air at once if it stays.
    case lose(staysOnAir: Bool)
    indirect case setAdvertising(Int, AdvertisingDescription, firstPacket: Duration?)
    case enableAdvertising(Int?, Bool)
    case setProximity(Proximity)
    case setRSSI(Int?)
    indirect case addService(ServiceDescription)
    case removeService(BluetoothUUID, index: Int)
    /// By the number of its ``AttributePosition``.
    case removeServiceNumber(Int)
    case rename(String, isAnnounced: Bool)
    case changeAddress(DeviceAddress)
    case rotateAddress
    indirect case setParameters(ConnectionParameters)
    case setPacketLoss(Double)
    indirect case setPairing(PairingDescription)
    case loseBonds(DeviceAddress?)
    case exchangeMTU(Int)
    case failConnections(Int)
    indirect case inject(DeviceFault)
    case clearFaults
    case resume
    case startTimer(Int, after: Duration, every: Duration?)
    case stopTimer(Int)
    case send(ChannelID, Data)
    case closeChannel(ChannelID)
    case remove

    /// Whether it gives the device another address, which is reported where that happens.
    var changesAddress: Bool {
        switch self {
        case .changeAddress, .rotateAddress: true
        default: false
        }
    }

    /// Whether it changes what a device is, which is its managers' business where it is a host's.
    var changesDescription: Bool {
        switch self {
        case .hold, .disconnect, .lose, .setProximity, .setRSSI, .rename, .exchangeMTU, .failConnections, .inject,
            .clearFaults, .resume, .loseBonds, .rotateAddress, .setParameters, .setPacketLoss:
            false
        default: true
        }
    }
}

/// An action of a test or a tool on a host.
enum HostControl: Sendable {
    case power(Bool)
    case authorize(AuthorizationStatus)
    /// The system's Bluetooth service restarts, and is back after that time.
    case reset(Duration)
    case plug(Bool)
    /// The state that managers see, whatever it follows from; nil: what it follows from.
    case setState(AdapterState?)
    case setMaximumMTU(Int?)
    indirect case setAdvertising(HostAdvertising)
    case rotateAddress
    case forget(PeerID)
    case remember(PeerID)
    case setFeature(BackendFeature, Bool)
    /// Terminates the app of a restore identifier, and preserves its state.
    case terminateApp(String)
    indirect case preserveCentral(RestoredCentralState, String)
    indirect case preservePeripheral(RestoredPeripheralState, String)
    case authorizeANCS(PeerID, Bool)
    /// Bonds with a device without a pairing.
    case bond(Ref<Device>)
    case removeBond(DeviceAddress)
    /// Another app of the host connects or releases its connection.
    case connectOtherApp(PeerID, withoutAdvertising: Bool)
    case disconnectOtherApp(PeerID)
    /// Ends the link of a central of the peripheral role.
    case disconnectCentral(PeerID, isForSecurity: Bool)
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
    /// A device was added, and begins to advertise.
    case deviceAdded(Ref<Device>)
    /// An asynchronous handler answered.
    indirect case answered(HandlerReply)
}

/// How far a device has admitted a connect.
enum ConnectAdmission: Sendable {
    /// Its packet was answered; faults and the handler are to come.
    case requested
    /// It is past its fault; the handler is to come.
    case pastFault
    /// Nothing stops it.
    case granted
}

/// The events that are scheduled in the world.
///
/// Without reference-counted parts, as each read creates one.
enum WorldEvent: Sendable {
    case reportState(Ref<Manager>)
    case adapterBack(Int, epoch: UInt32)
    /// A scan that started a while ago hears its first packets.
    indirect case listen(Ref<Manager>, UInt64, ScanParameters)
    case advertise(Ref<Device>, set: Int, generation: UInt32)
    /// The last packet of an advertising event is over; only where packets collide.
    case advertisingEventOver(Ref<Device>, set: Int, generation: UInt32)
    /// A connect leads to a link, if the device admits it.
    case established(Int, Ref<Device>, epoch: UInt32, ConnectAdmission)
    /// The answer to the request at the head of a link's line arrives.
    case answer(Ref<Link>)
    /// The rest of a long value arrived.
    case finish(Ref<Link>)
    /// The next part of a long read reaches the manager that answers it.
    case continueRead(Ref<Link>)
    /// The connection parameters that the device asked for are in force.
    case changeParameters(Ref<Link>)
    /// Deferred operations of a link may be due.
    case performPostponed(Ref<Link>)
    /// The time of an advertising set is over.
    case advertisingOver(Ref<Device>, set: Int, enabling: UInt32)
    case rotateAddress(Ref<Device>)
    case rotateHostAddress(Int)
    /// Write commands at the head of a link's line go out.
    case transmit(Ref<Link>)
    /// The device's notifications go out.
    case peerTransmit(Ref<Link>)
    case supervision(Ref<Link>)
    case transactionTimeout(Ref<Link>)
    /// The bytes that one side sent on a channel go over.
    case channelTransmit(ChannelID, LinkSide)
    /// A side may send more on a channel.
    case channelCredits(ChannelID, Int, to: LinkSide)
    case pairingFeatures(Ref<Link>, UInt64)
    case pairingKeys(Ref<Link>, UInt64)
    case pairingTimeout(Ref<Link>, UInt64)
    /// An app's pairing waited too long for a link.
    indirect case pairingLinkTimeout(Ref<Manager>, OperationID, PeerID, host: Int)
    /// A bonded device did not start encryption.
    indirect case encryptionTimeout(Int, PeerID, epoch: UInt32)
    case remoteClose(Ref<Link>)
    /// The peripheral ends a link whose pairing failed.
    case securityClose(Ref<Link>)
    case localClose(Ref<Link>)
    case reportLocal(Ref<Manager>, LinkID, epoch: UInt32)
    /// A link that was not ready for write commands at first is.
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
    /// A call that the clock owes is due.
    case alarm(UInt64)
    indirect case call(HandlerCall)
    /// For the taps.
    indirect case tapped(TapEvent)
    /// A tap begins, with events that describe the world.
    case tapBegins(UInt64, [TapEvent])

    var isForTaps: Bool {
        switch self {
        case .tapped, .tapBegins: true
        case .central, .peripheral, .pairing, .alarm, .call: false
        }
    }
}
