import BluetoothBackend
public import BluetoothSupport

// What happens to built-in devices.
extension EmulatedDevice {
    /// Sets a parameter of the device's handler.
    ///
    /// What is out of range becomes the nearest bound. A parameter that the device does not have is ignored, with a
    /// line in the trace.
    public func set(_ parameter: DeviceParameter, to value: Double) {
        emulator.submit(.device(ref, .setParameter(parameter, value)))
    }

    /// Charges the battery or drains it, to 0...100 percent; subscribers are notified.
    public func setBatteryLevel(_ percent: Int) { set(.batteryLevel, to: Double(percent)) }

    /// Sets the heart rate, in beats per minute.
    public func setHeartRate(_ rate: Int) { set(.heartRate, to: Double(rate)) }

    /// Puts the heart rate sensor on or takes it off.
    public func setSensorContact(_ isTouching: Bool) { set(.sensorContact, to: isTouching ? 1 : 0) }

    /// Sets the thermometer's temperature, in its unit; the next measurement shows it.
    public func setTemperature(_ temperature: Double) { set(.temperature, to: temperature) }

    /// Sets the revolutions of the crank and of the wheel per minute.
    public func pedal(cadence: Double, wheelRate: Double) {
        set(.cadence, to: cadence)
        set(.wheelRate, to: wheelRate)
    }

    /// Sets the device's clock fast (or slow, if negative) by that much; subscribers are notified.
    public func setTimeOffset(_ offset: Duration) { set(.timeOffset, to: offset / .seconds(1)) }

    /// Presses or releases the Blinky board's button.
    public func setButton(isPressed: Bool) {
        notify(CharacteristicPath(BlinkyHandler.button), value: Data([isPressed ? 1 : 0]))
    }

    /// Sends data from the Nordic UART device, in notifications of at most 20 bytes, which fit every MTU.
    public func send(_ data: Data) {
        for piece in NordicUARTHandler.pieces(of: data, size: 20) {
            notify(CharacteristicPath(NordicUARTHandler.transmit), value: piece)
        }
    }
}
