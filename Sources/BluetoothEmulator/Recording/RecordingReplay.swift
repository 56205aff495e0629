import BluetoothSupport

/// A recording that an emulated device plays.
public struct RecordingReplay: Hashable, Sendable {
    /// The recording.
    public var recording: DeviceRecording {
        get { contents[0] }
        set { contents[0] = newValue }
    }
    /// One element: a value cannot contain itself, and a recording contains a device, which may contain a replay.
    private var contents: [DeviceRecording]
    /// How it is played.
    public var options: ReplayOptions
    /// The file, relative to the folder of a world file; nil for a recording that is in no world file.
    package var file: String?

    /// A recording with the options of its replay.
    public init(_ recording: DeviceRecording, _ options: ReplayOptions = ReplayOptions()) {
        contents = [recording]
        self.options = options
    }

    /// The recorded device under a name; an empty one is that of the recording.
    func device(named name: String) -> PeripheralDescription {
        let device = recording.device
        return name.isEmpty || name == device.name ? device : device.named(name)
    }

    func validate(path: String) throws(DescriptionError) {
        try require(
            (0.001...1000).contains(options.speed), "\(path)replay.speed", "the speed is 0.001...1000")
    }
}

/// How a recording is played.
public struct ReplayOptions: Hashable, Sendable {
    /// What follows the last notification of a series.
    public enum Notifications: String, Hashable, Sendable, CaseIterable {
        /// The series begins again, after the median of the pauses in it.
        case loop
        /// Nothing.
        case once
    }

    /// The values of reads.
    public enum Reads: String, Hashable, Sendable, CaseIterable {
        /// Those that were read, in their order; then the last one again and again.
        case sequence
        /// The one that was read last.
        case last
    }

    /// The time that an answer takes.
    public enum Latency: String, Hashable, Sendable, CaseIterable {
        /// As long as in the recording, but no shorter than the emulated link needs.
        case recorded
        /// As long as the emulated link needs.
        case none
    }

    /// What follows the last notification of a series.
    public var notifications: Notifications
    /// The values of reads.
    public var reads: Reads
    /// The time that an answer takes.
    public var latency: Latency
    /// The factor by which all times of the recording are shorter, 0.001...1000.
    public var speed: Double

    /// Options.
    public init(
        notifications: Notifications = .loop, reads: Reads = .sequence, latency: Latency = .recorded,
        speed: Double = 1
    ) {
        self.notifications = notifications
        self.reads = reads
        self.latency = latency
        self.speed = speed
    }
}

extension ReplayOptions: WorldFileObject {
    static let fields = FieldTable(
        ReplayOptions(),
        .value("notifications", \.notifications, .name("kinds", of: Notifications.allCases)),
        .value("reads", \.reads, .name("kinds", of: Reads.allCases)),
        .value("latency", \.latency, .name("kinds", of: Latency.allCases)),
        .value("speed", \.speed))
}
