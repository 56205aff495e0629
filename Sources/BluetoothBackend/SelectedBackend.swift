/// The backend of managers that name none, for one task and its child tasks.
package enum SelectedBackend {
    /// nil where the process decides.
    @TaskLocal package static var current: (any BluetoothBackend)?
}
