/// One thing that the doctor looked at.
struct Finding: Encodable, Equatable, Sendable {
    /// How it stands.
    enum Status: String, Encodable, Sendable {
        case ok
        /// Worth knowing; Bluetooth can be used.
        case note
        /// Bluetooth cannot be used.
        case problem
    }

    let check: String
    let status: Status
    let detail: String
    /// What to do.
    let remedy: String?
    /// The doctor looks at BlueZ alone.
    let backend = "bluez"

    init(_ check: String, _ status: Status, _ detail: String, remedy: String? = nil) {
        self.check = check
        self.status = status
        self.detail = detail
        self.remedy = remedy
    }
}
