import Logging

/// The module's log.
let log = Logger(label: "CoreBluetoothMock")
