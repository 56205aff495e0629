import BluetoothEmulator
import BluetoothSupport

/// A radio history: what goes wrong for an app, and when.
///
/// A history and a world determine a run completely: the same app does the same in each run.
struct RadioHistory: Hashable, Codable, Sendable {
    /// An incident at an instant, perhaps for a time.
    struct Step: Hashable, Codable, Sendable {
        /// The time since the world began.
        var time: Duration
        /// The time until the incident is over; zero for an incident that is over at once.
        var duration = Duration.zero
        var incident: Incident
    }

    /// Something that goes wrong.
    enum Incident: Hashable, Codable, Sendable {
        case device(String, DeviceIncident)
        case host(String, HostIncident)
        /// Packets are lost with a chance of 0...1.
        case interference(Double)
        /// Another device has the name and the services of this one.
        case twin(of: String)
    }

    enum DeviceIncident: Hashable, Codable, Sendable {
        case outOfRange, far, silent, disconnects, resets, rotatesAddress
        case fault(DeviceFault)
        /// Steps that meet the fault hang until the incident is over.
        case pause(DeviceFault.Step)
    }

    /// The raw values are the words of the coverage.
    enum HostIncident: String, Codable, Sendable {
        case poweredOff = "powered off"
        case unplugged
        /// The system's Bluetooth service restarts.
        case resetting = "service restarts"
    }

    /// The seed of the world's random decisions.
    var seed: UInt64
    /// The steps, in the order of their times; an incident with an end is one step.
    var steps: [Step] {
        didSet { sort() }
    }

    init(seed: UInt64, steps: [Step] = []) {
        self.seed = seed
        self.steps = steps
        sort()
    }

    private mutating func sort() {
        guard zip(steps, steps.dropFirst()).contains(where: { $0.time > $1.time }) else { return }
        // Stable: steps at one instant keep their order.
        steps = steps.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    /// The actions of a world's script that make up the history.
    ///
    /// Twins are devices of the world, and so not part of the script.
    var script: [ScriptStep] {
        steps.flatMap(\.script).enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    /// The names of the devices that have a twin.
    var twins: Set<String> {
        Set(
            steps.compactMap { step in
                guard case .twin(let name) = step.incident else { return nil }
                return name
            })
    }
}

extension RadioHistory.Step {
    fileprivate var script: [ScriptStep] {
        func episode(_ begin: ScriptStep.Action, _ end: ScriptStep.Action) -> [ScriptStep] {
            [ScriptStep(at: time, begin), ScriptStep(at: time + duration, end)]
        }
        switch incident {
        case .interference(let chance): return episode(.interference(chance), .interference(0))
        case .host(let name, .poweredOff): return episode(.host(name, .setPower(false)), .host(name, .setPower(true)))
        case .host(let name, .unplugged):
            return episode(.host(name, .setPlugged(false)), .host(name, .setPlugged(true)))
        case .host(let name, .resetting): return [ScriptStep(at: time, .host(name, .reset(for: duration)))]
        case .twin: return []
        case .device(let name, let incident):
            func device(_ action: ScriptStep.DeviceAction) -> ScriptStep.Action { .device(name, action) }
            switch incident {
            case .outOfRange: return episode(device(.setProximity(.outOfRange)), device(.setProximity(.near)))
            case .far: return episode(device(.setProximity(.far)), device(.setProximity(.near)))
            case .silent: return episode(device(.setAdvertising(false)), device(.setAdvertising(true)))
            case .disconnects: return [ScriptStep(at: time, device(.disconnect))]
            case .resets: return [ScriptStep(at: time, device(.reset))]
            case .rotatesAddress: return [ScriptStep(at: time, device(.rotateAddress))]
            case .fault(let fault): return [ScriptStep(at: time, device(.inject(fault)))]
            // The end removes the fault, too: a step that came later would wait forever.
            case .pause(let step): return episode(device(.inject(DeviceFault(step, .pause))), device(.clearFaults))
            }
        }
    }
}

extension RadioHistory.Step: CustomStringConvertible {
    /// The step in words: `at 1.712 s for 26 s: Lock is out of range`.
    var description: String {
        let end = duration > .zero ? " for \(duration.inWords)" : ""
        return "at \(time.inWords)\(end): \(incident)"
    }
}

extension RadioHistory.Incident: CustomStringConvertible {
    var description: String {
        switch self {
        case .interference(let chance): "packets are lost with a chance of \(Int((chance * 100).rounded())) %"
        case .twin(let name): "another device is named \(name)"
        case .host(let name, let incident): incident.words(name == "default" ? "the adapter" : "the adapter of \(name)")
        case .device(let name, let incident): incident.words(name)
        }
    }
}

extension RadioHistory.HostIncident {
    fileprivate func words(_ adapter: String) -> String {
        switch self {
        case .poweredOff: "\(adapter) is off"
        case .unplugged: "\(adapter) is unplugged"
        case .resetting: "the Bluetooth service of \(adapter) restarts"
        }
    }
}

extension RadioHistory.DeviceIncident {
    fileprivate func words(_ name: String) -> String {
        switch self {
        case .outOfRange: "\(name) is out of range"
        case .far: "\(name) is far away"
        case .silent: "\(name) does not advertise"
        case .disconnects: "\(name) disconnects"
        case .resets: "\(name) restarts"
        case .rotatesAddress: "\(name) changes its address"
        case .fault(let fault): "\(name): \(fault.words().lowercasedFirst)"
        case .pause(let step): "\(name): \(DeviceFault(step, .pause).words().lowercasedFirst)"
        }
    }

    /// The incident in a word, for the coverage.
    var kind: String {
        switch self {
        case .outOfRange: "out of range"
        case .far: "far"
        case .silent: "silent"
        case .disconnects: "disconnects"
        case .resets: "restarts"
        case .rotatesAddress: "changes address"
        case .pause: "pause"
        case .fault(let fault): fault.effect.name.rawValue
        }
    }
}

extension RadioHistory.Incident {
    /// The incident in a word, for the coverage.
    var kind: String {
        switch self {
        case .interference: "interference"
        case .twin: "twin"
        case .host(_, let incident): incident.rawValue
        case .device(_, let incident): incident.kind
        }
    }
}

extension Duration {
    /// The duration with at most three decimals: `1.712 s`, `26 s`, `0.2 ms` below a millisecond.
    var inWords: String {
        let nanoseconds = self / .nanoseconds(1)
        if nanoseconds != 0, nanoseconds.magnitude < 1e6 { return "\(nanoseconds / 1e6) ms" }
        let seconds = (nanoseconds / 1e6).rounded() / 1e3
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}
