// swift-format-ignore-file
// Generated from Data/assigned-numbers by Scripts/generate-assigned-numbers. Do not edit.

extension AssignedNumbers {
    /// The name of a service: `Heart Rate` for 0x180D.
    @_alwaysEmitIntoClient
    public static func service(_ uuid: UInt16) -> String? {
        name(of: uuid, in: services)
    }

    /// Source: Assigned Numbers, 3.4.
    @_alwaysEmitIntoClient
    static var services: StaticString {
#"""
180	Generic Access	Generic Attribute	Immediate Alert	Link Loss	Tx Power	Current Time	Reference Time Update	Next DST Change	Glucose	Health Thermometer	Device Information			Heart Rate	Phone Alert Status	Battery
181	Blood Pressure	Alert Notification	Human Interface Device	Scan Parameters	Running Speed and Cadence	Automation IO	Cycling Speed and Cadence		Cycling Power	Location and Navigation	Environmental Sensing	Body Composition	User Data	Weight Scale	Bond Management	Continuous Glucose Monitoring
182	Internet Protocol Support	Indoor Positioning	Pulse Oximeter	HTTP Proxy	Transport Discovery	Object Transfer	Fitness Machine	Mesh Provisioning	Mesh Proxy	Reconnection Configuration
183											Insulin Delivery	Binary Sensor	Emergency Configuration	Authorization Control	Physical Activity Monitor	Elapsed Time
184	Generic Health Sensor			Audio Input Control	Volume Control	Volume Offset Control	Coordinated Set Identification	Device Time	Media Control	Generic Media Control	Constant Tone Extension	Telephone Bearer	Generic Telephone Bearer	Microphone Control	Audio Stream Control	Broadcast Audio Scan
185	Published Audio Capabilities	Basic Audio Announcement	Broadcast Audio Announcement	Common Audio	Hearing Access	Telephony and Media Audio	Public Broadcast Announcement	Electronic Shelf Label	Gaming Audio	Mesh Proxy Solicitation
"""#
    }
}
