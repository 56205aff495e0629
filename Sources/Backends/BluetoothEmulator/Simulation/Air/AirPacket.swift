/// An advertising packet on its way: its set, with the data that the set had when the packet was scheduled.
///
/// The fields are small, because the packets wait in the event queue.
struct AirPacket: Sendable {
    let device: Ref<Device>
    /// The generation of the set's data.
    let generation: UInt32
    private let set: Int32
    /// The signal strength at the hosts, in dBm, when the packet was sent.
    private var strength: Int32 = 127

    init(_ device: Ref<Device>, set: Int, generation: UInt32) {
        self.device = device
        self.generation = generation
        self.set = Int32(set)
    }

    /// The index of the set.
    var index: Int { Int(set) }

    var rssi: Int {
        get { Int(strength) }
        set { strength = Int32(clamping: newValue) }
    }

    /// The key of the set's reports, from its device and its index; a device has few sets.
    var reportKey: Int { Int(device.serial) << 16 | index }
}
