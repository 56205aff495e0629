import BluetoothSupport

/// A recording that an emulated device replays.
public struct RecordingReplay: Hashable, Sendable {
    /// The recording.
    public var recording: DeviceRecording {
        get { contents[0] }
        set { contents[0] = newValue }
    }
    /// A single element in an array, because a recording contains a device, which may contain a replay: a value cannot
    /// contain itself.
    private var contents: [DeviceRecording]
    /// The options of the replay.
    public var options: ReplayOptions
    /// The file's path relative to the folder of a world file; nil for a recording outside of world files.
    package var file: String?

    /// Creates a replay of a recording.
    public init(_ recording: DeviceRecording, _ options: ReplayOptions = ReplayOptions()) {
        contents = [recording]
        self.options = options
    }

    /// Returns the recorded device under a name; an empty name uses that of the recording.
    func device(named name: String) -> PeripheralDescription {
        let device = recording.device
        return name.isEmpty || name == device.name ? device : device.named(name)
    }

    func validate(path: String) throws(DescriptionError) {
        try require(
            (0.001...1000).contains(options.speed), "\(path)replay.speed", "the speed is 0.001...1000")
    }
}

/// The options for the replay of a recording.
public struct ReplayOptions: Hashable, Sendable {
    /// The behavior after the last notification of a series.
    public enum Notifications: String, Hashable, Sendable, CaseIterable {
        /// The series begins again, after the median of its pauses.
        case loop
        /// No further notification follows.
        case once
    }

    /// The values of reads.
    public enum Reads: String, Hashable, Sendable, CaseIterable {
        /// The recorded values in their order; the last one is repeated.
        case sequence
        /// The value of the last recorded read.
        case last
    }

    /// The time that an answer takes.
    public enum Latency: String, Hashable, Sendable, CaseIterable {
        /// The recorded time, but at least the time that the emulated link needs.
        case recorded
        /// The time that the emulated link needs.
        case none
    }

    /// The behavior after the last notification of a series.
    public var notifications: Notifications
    /// The values of reads.
    public var reads: Reads
    /// The time that an answer takes.
    public var latency: Latency
    /// The factor by which all times of the recording are divided, 0.001...1000.
    public var speed: Double

    /// Creates the options of a replay.
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
