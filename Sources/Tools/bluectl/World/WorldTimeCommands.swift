#if Emulator && os(Linux)
import ArgumentParser
import BluetoothSupport
import LiveView

struct WorldPauseCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause a world that \"bluectl view\" shows.",
        discussion: "Other worlds cannot be paused, because programs use them in real time.")

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["paused": true])
    }
}

struct WorldContinueCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue", abstract: "Continue a paused world.")

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["paused": false])
    }
}

struct WorldRateCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate", abstract: "Set the speed of time in a world that \"bluectl view\" shows.")

    @Argument(help: ArgumentHelp("Virtual seconds per real second, 0.01...100.", valueName: "RATE"))
    var rate: Double

    @OptionGroup var control: WorldControlOptions

    func validate() throws {
        // Infinity has no form in JSON.
        if !rate.isFinite { throw ValidationError("the rate is a number, 0.01...100") }
    }

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["rate": rate])
    }
}

struct WorldStepCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "step", abstract: "Advance the time in a world that \"bluectl view\" shows.",
        discussion: "The command ends when everything up to that time has happened.")

    @Argument(help: ArgumentHelp("The time to pass, more than 0 and at most 3600 seconds.", valueName: "SECONDS"))
    var step: Seconds

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["step": step.duration / .seconds(1)])
    }
}
#endif
