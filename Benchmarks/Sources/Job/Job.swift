import BluetoothEmulator
import CoreBluetooth
import Foundation

/// A job that people run, in a process of its own: fifty sensors, and what an app does with them.
///
/// Its first argument names the job, the second the backend (`bluez`, or a file that describes an emulated world), then
/// follow the number of devices and the number of seconds. The result is a line of JSON.
@main
enum Job: String, CaseIterable {
    /// Subscribes to each device, with delegates.
    case delegates
    /// Subscribes to each device in a task of its own, on the central's executor.
    case centralTasks = "central-tasks"
    /// Subscribes to each device in a task of its own, on the global executor.
    case globalTasks = "global-tasks"
    /// Connects to each device, and waits.
    case idle
    /// Scans without a filter, and counts the reports.
    case scan

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let job = Job(rawValue: arguments[1]), let devices = Int(arguments[3]),
            let seconds = UInt32(arguments[4])
        else {
            let jobs = allCases.map(\.rawValue).joined(separator: "|")
            FileHandle.standardError.write(Data("usage: Job \(jobs) bluez|WORLD.json DEVICES SECONDS\n".utf8))
            exit(2)
        }
        let backend: CBBackendSelection =
            arguments[2] == "bluez" ? .bluez() : .emulator(try Emulator(worldFile: arguments[2]))
        switch job {
        case .delegates: try DelegateJob.run(.subscriptions, devices, seconds, on: backend)
        case .centralTasks: try AsyncJob.run(devices, seconds, on: backend, .central)
        case .globalTasks: try AsyncJob.run(devices, seconds, on: backend, .global)
        case .idle: try DelegateJob.run(.connections, devices, seconds, on: backend)
        case .scan: try DelegateJob.run(.reports, devices, seconds, on: backend)
        }
    }
}
