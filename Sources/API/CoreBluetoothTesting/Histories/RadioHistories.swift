import Foundation

/// The histories under which a test runs.
public struct RadioHistories: Sendable {
    /// A set of kinds of incidents.
    public struct Profile: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A person walks about: devices leave the range and return, and packets are lost.
        public static let walking = Profile(rawValue: 1)
        /// The host is unreliable: its adapter is off or unplugged for a while, and its Bluetooth service restarts.
        public static let flakyHost = Profile(rawValue: 2)
        /// Devices refuse, stall, disconnect and restart, send malformed values, change their addresses, and act without
        /// their answers reaching the app.
        public static let hostileDevice = Profile(rawValue: 4)
        /// Another device has the same name and the same services, from the beginning.
        public static let twins = Profile(rawValue: 8)
        /// Everything that may happen to an app that knows its devices: all but ``twins``.
        public static let usual: Profile = [.walking, .flakyHost, .hostileDevice]
        /// Everything.
        public static let all: Profile = [.usual, .twins]
    }

    /// The number of histories that end a search.
    public var count: Int
    /// The real time after which no further history begins; nil for no limit.
    public var timeLimit: Duration?
    /// The kinds of incidents that may happen.
    public var profile: Profile
    /// The mean number of incidents in a history, 1 or more.
    public var rate: Double
    /// Whether histories run on all processors at the same time.
    ///
    /// The test's code must then share no state between its runs, as with any test that runs in parallel.
    public var isParallel: Bool
    /// Whether histories run in a child process, one after the other, so that a trap of the code under test is found.
    ///
    /// Without it, a trap ends the test run, as in any test. For tests of Swift Testing without arguments.
    public var catchesTraps: Bool

    /// The largest number of incidents in a history.
    static let maximumSteps = 12

    private init(
        _ count: Int, _ timeLimit: Duration?, _ profile: Profile, _ rate: Double, _ isParallel: Bool,
        _ catchesTraps: Bool
    ) {
        self.count = max(1, count)
        self.timeLimit = timeLimit
        self.profile = profile
        self.rate = min(Double(Self.maximumSteps), max(1, rate))
        self.isParallel = isParallel
        self.catchesTraps = catchesTraps
    }

    /// A number of histories.
    ///
    /// - Parameters:
    ///   - count: The number, 1 or more.
    ///   - profile: What may go wrong.
    ///   - rate: The mean number of incidents in a history, 1...12.
    ///   - isParallel: Whether histories run on all processors at the same time.
    ///   - catchesTraps: Whether histories run in a child process, so that a trap is found.
    public static func histories(
        _ count: Int, _ profile: Profile = .usual, rate: Double = 3, isParallel: Bool = true, catchesTraps: Bool = false
    ) -> RadioHistories {
        RadioHistories(count, nil, profile, rate, isParallel, catchesTraps)
    }

    /// As many histories as run in a real time.
    ///
    /// - Parameters:
    ///   - timeLimit: The time after which no further history begins.
    ///   - profile: What may go wrong.
    ///   - rate: The mean number of incidents in a history, 1...12.
    ///   - isParallel: Whether histories run on all processors at the same time.
    ///   - catchesTraps: Whether histories run in a child process, so that a trap is found.
    public static func histories(
        within timeLimit: Duration, _ profile: Profile = .usual, rate: Double = 3, isParallel: Bool = true,
        catchesTraps: Bool = false
    ) -> RadioHistories {
        RadioHistories(.max, timeLimit, profile, rate, isParallel, catchesTraps)
    }

    /// The same histories, as many as the environment's `COREBLUETOOTH_HISTORIES` if it is set.
    var withCountOfEnvironment: RadioHistories {
        Self.countOfEnvironment.map { RadioHistories($0, nil, profile, rate, isParallel, catchesTraps) } ?? self
    }

    private static let countOfEnvironment: Int? = ProcessInfo.number(of: "COREBLUETOOTH_HISTORIES")
}
