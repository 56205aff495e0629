import Foundation

/// An app that connects to the first sensor, prints its values, and lets it alert while the soil is dry.
///
/// Use it on the main queue.
public final class PlantMonitor {
    /// The humidity of the soil below which the sensor alerts, in percent.
    static let dryness = 20.0

    /// Called once, when the app has ended; with an error if it cannot continue.
    public var onEnd: ((Error?) -> Void)?
    private let manager: SensorManager
    private let known: UUID?
    private let output: (String) -> Void
    private var remaining: Int
    private var sensor: Sensor?
    private var hasAlerted = false

    /// Begins at once, or as soon as the adapter is switched on.
    ///
    /// - Parameters:
    ///   - limit: The number of values after which the app ends.
    ///   - known: The identifier of a sensor that the system knows; nil looks for one.
    ///   - output: Receives each line.
    public convenience init(limit: Int = .max, known: UUID? = nil, output: @escaping (String) -> Void) {
        self.init(manager: SensorManager(), limit: limit, known: known, output: output)
    }

    init(manager: SensorManager, limit: Int = .max, known: UUID? = nil, output: @escaping (String) -> Void) {
        self.manager = manager
        self.known = known
        self.output = output
        remaining = limit
        manager.delegate = self
        if manager.problem == nil { begin() }
    }

    private func begin() {
        guard sensor == nil else { return }
        guard let known else { return manager.startSearch() }
        do { use(try manager.retrieveSensor(known)) } catch { end(error) }
    }

    private func use(_ sensor: Sensor) {
        self.sensor = sensor
        sensor.delegate = self
        manager.connect(sensor)
    }

    private func end(_ error: Error?) {
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?(error)
    }
}

extension PlantMonitor: SensorManagerDelegate {
    func sensorManagerDidChangeState(_ manager: SensorManager) {
        switch manager.problem {
        case nil: begin()
        case .adapterIsNotReady: break
        case .adapterIsOff: output("Bluetooth is off; waiting")
        case let problem: end(problem)
        }
    }

    func sensorManager(_ manager: SensorManager, didFind sensor: Sensor) {
        guard self.sensor == nil else { return }
        output("found \(sensor.name), \(sensor.identifier)")
        manager.stopSearch()
        use(sensor)
    }

    func sensorManager(_ manager: SensorManager, didConnect sensor: Sensor) { output("connected to \(sensor.name)") }

    func sensorManager(_ manager: SensorManager, didFailToConnect sensor: Sensor, error: Error?) { end(error) }

    func sensorManager(_ manager: SensorManager, didDisconnect sensor: Sensor, error: Error?) {
        guard let error else { return end(nil) }
        output("connection lost: \(error.localizedDescription)")
    }
}

extension PlantMonitor: SensorDelegate {
    func sensorDidBecomeReady(_ sensor: Sensor) {}

    func sensor(_ sensor: Sensor, didMeasure reading: Reading) {
        guard remaining > 0 else { return }
        output("\(reading)")
        remaining -= 1
        if case .soil(let humidity) = reading { alert(sensor, isDry: humidity < Self.dryness) }
        if remaining == 0 { manager.disconnect(sensor) }
    }

    func sensor(_ sensor: Sensor, didFailWith error: Error) {
        output(error.localizedDescription)
        if error as? SensorError == .noBattery { manager.disconnect(sensor) }
    }

    private func alert(_ sensor: Sensor, isDry: Bool) {
        guard isDry != hasAlerted else { return }
        hasAlerted = isDry
        do {
            try sensor.alert(isDry ? .high : .none)
            output(isDry ? "the soil is dry: alert" : "the soil is wet again")
        } catch {
            output(error.localizedDescription)
        }
    }
}
