#if os(Linux)
import BluetoothDBus
import Testing

@testable import BlueZ

extension DaemonMessage {
    /// Applies the message to a model, and returns the event that ``BlueZDaemon`` then sends to its clients.
    func apply(to objects: ObjectModel) -> DaemonEvent {
        do throws(DBusError) {
            switch self {
            case .phase(let phase):
                if phase != .ready { objects.removeAll() }
                return .phase(phase)
            case .snapshot: return .snapshot(try objects.replace(with: try message))
            default: return .changed(try objects.apply(try message))
            }
        } catch {
            Issue.record(error)
            return .changed([])
        }
    }
}

extension ObjectModel {
    /// Applies a message, and returns the changes.
    func changes(by message: DaemonMessage) -> [Change] {
        switch message.apply(to: self) {
        case .changed(let changes), .snapshot(let changes): changes
        case .phase: []
        }
    }
}
#endif
