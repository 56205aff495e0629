import BluetoothBackend
import BluetoothSupport

/// The handler of a device, with its timers.
struct DeviceHandler: Sendable {
    private struct Timer: Sendable {
        let period: Duration?
        let generation: UInt32
        /// The token of a one-shot timer.
        var token: WorldQueue.Token?
    }

    var behavior: (any DeviceBehavior)?
    /// The built-in handler; nil if the device has its own handler or no handler.
    private(set) var builtIn: BuiltInHandler?
    private(set) var asynchronous: (any AsynchronousPeripheralHandler)?
    /// The hosts about whose connects an asynchronous handler is being asked, with the epochs of their adapters.
    var askedConnects: [Int: UInt32] = [:]
    /// Whether the behavior determines the times of its answers.
    private(set) var hasResponseTimes = false
    private var timers: [Int: Timer] = [:]
    private var lastGeneration: UInt32 = 0

    init() {}

    init(_ peripheral: EmulatedPeripheral) {
        behavior = peripheral.makeBehavior?()
        builtIn = peripheral.builtInHandler
        hasResponseTimes = peripheral.description.replay?.options.latency == .recorded
        asynchronous = peripheral.asynchronousHandler
    }

    /// Whether the device is a host outside of the emulator.
    var isExternal: Bool { asynchronous is any ExternalPeripheralHandler }

    var isPresent: Bool { behavior != nil || asynchronous != nil }

    /// Whether the handler has a parameter; a custom handler may have any.
    func accepts(_ parameter: DeviceParameter) -> Bool {
        isPresent && builtIn.map { $0.parameters[parameter] != nil } ?? true
    }

    /// Calls the handler that runs inside a step of the world.
    mutating func call<Response>(
        _ body: (inout (any DeviceBehavior)?, inout DeviceActions) -> Response?, _ actions: inout DeviceActions
    ) -> Response? { body(&behavior, &actions) }

    /// Records that an asynchronous handler is asked about a host's connect; nil without such a handler.
    ///
    /// - Returns: Whether it is not being asked.
    mutating func ask(_ host: Int, _ epoch: UInt32) -> Bool? {
        guard asynchronous != nil else { return nil }
        return askedConnects.updateValue(epoch, forKey: host) != epoch
    }

    /// Records the answer about a host's connect; returns whether it was awaited.
    mutating func answered(_ host: Int, _ epoch: UInt32) -> Bool {
        guard askedConnects[host] == epoch else { return false }
        askedConnects[host] = nil
        return true
    }

    /// Starts a timer, and replaces an earlier timer with its number.
    mutating func startTimer(
        _ number: Int, after delay: Duration, every period: Duration?, of ref: Ref<Device>, in queue: inout WorldQueue
    ) {
        stopTimer(number, in: &queue)
        lastGeneration += 1
        let event = WorldEvent.deviceTimer(ref, number, generation: lastGeneration)
        let due = queue.now + max(0, delay.nanoseconds)
        var timer = Timer(period: period, generation: lastGeneration)
        if period == nil {
            timer.token = queue.scheduleCancellable(event, at: due)
        } else {
            queue.schedule(event, at: due, isPeriodic: true)
        }
        timers[number] = timer
    }

    mutating func stopTimer(_ number: Int, in queue: inout WorldQueue) {
        if let token = timers.removeValue(forKey: number)?.token { queue.cancel(token) }
    }

    mutating func stopTimers(in queue: inout WorldQueue) {
        for number in timers.keys.sorted() { stopTimer(number, in: &queue) }
    }

    /// Fires a timer; a periodic one is scheduled again.
    ///
    /// - Returns: Whether the timer was running.
    mutating func timerFired(
        _ number: Int, _ generation: UInt32, of ref: Ref<Device>, in queue: inout WorldQueue
    ) -> Bool {
        guard let timer = timers[number], timer.generation == generation else { return false }
        if let period = timer.period {
            queue.schedule(
                .deviceTimer(ref, number, generation: generation), at: queue.now + max(1, period.nanoseconds),
                isPeriodic: true)
        } else {
            timers[number] = nil
        }
        return true
    }
}
