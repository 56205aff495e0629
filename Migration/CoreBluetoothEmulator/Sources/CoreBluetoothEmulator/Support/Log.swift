import Logging

/// Writes a warning to the log of this module.
func logWarning(_ text: String) { Logger(label: "CoreBluetoothEmulator").warning("\(text)") }

/// Logs a call that is ignored, as Apple's classes do.
func logMisuse(_ text: String) { logWarning("API MISUSE: \(text)") }
