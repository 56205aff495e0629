// swift-format-ignore-file
// Generated from Data/assigned-numbers by Scripts/generate-assigned-numbers. Do not edit.

extension AssignedNumbers {
    /// The name of a descriptor: `Client Characteristic Configuration` for 0x2902.
    @_alwaysEmitIntoClient
    public static func descriptor(_ uuid: UInt16) -> String? {
        name(of: uuid, in: descriptors)
    }

    /// Source: Assigned Numbers, 3.7.
    @_alwaysEmitIntoClient
    static var descriptors: StaticString {
#"""
290	Characteristic Extended Properties	Characteristic User Description	Client Characteristic Configuration	Server Characteristic Configuration	Characteristic Presentation Format	Characteristic Aggregate Format	Valid Range	External Report Reference	Report Reference	Number of Digitals	Value Trigger Setting	Environmental Sensing Configuration	Environmental Sensing Measurement	Environmental Sensing Trigger Setting	Time Trigger Setting	Complete BR-EDR Transport Block Data
291	Observation Schedule	Valid Range and Accuracy
"""#
    }
}
