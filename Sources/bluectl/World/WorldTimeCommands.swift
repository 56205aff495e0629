#if Emulator && os(Linux)
import ArgumentParser
import BluetoothSupport
import LiveView

struct WorldPauseCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop the time of a world that \"bluectl view\" shows.",
        discussion: "A world that other programs use cannot be paused: they have real timers.")

    @OptionGroup var control: WorldControlOptions
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["paused": true])
    }
}

struct WorldContinueCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue", abstract: "Let the time of a paused world pass again.")

    @OptionGroup var control: WorldControlOptions
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["paused": false])
    }
}

struct WorldRateCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate", abstract: "Set the speed of the time of a world that \"bluectl view\" shows.")

    @Argument(help: ArgumentHelp("The seconds that pass in a real second, 0.01...100.", valueName: "RATE"))
    var rate: Double

    @OptionGroup var control: WorldControlOptions
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func validate() throws {
        // Infinity has no JSON.
        if !rate.isFinite { throw ValidationError("the rate is a number, 0.01...100") }
    }

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["rate": rate])
    }
}

struct WorldStepCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "step", abstract: "Advance the time of a world that \"bluectl view\" shows.",
        discussion: "The command ends when everything up to that time has happened.")

    @Argument(help: ArgumentHelp("The time to pass, more than 0 and at most 3600 seconds.", valueName: "SECONDS"))
    var step: Seconds

    @OptionGroup var control: WorldControlOptions
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func request(_ devices: WorldDevices) -> LiveRequest {
        LiveRequest("POST", "/v1/time", ["step": step.duration / .seconds(1)])
    }
}
#endif
