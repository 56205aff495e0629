// swift-format-ignore-file
// Generated from Data/assigned-numbers by Scripts/generate-assigned-numbers. Do not edit.

extension AssignedNumbers {
    /// Descriptors. Source: Assigned Numbers, 3.7.
    static var descriptors: NameTable {
        NameTable(#"""
290	Characteristic Extended Properties	Characteristic User Description	Client Characteristic Configuration	Server Characteristic Configuration	Characteristic Presentation Format	Characteristic Aggregate Format	Valid Range	External Report Reference	Report Reference	Number of Digitals	Value Trigger Setting	Environmental Sensing Configuration	Environmental Sensing Measurement	Environmental Sensing Trigger Setting	Time Trigger Setting	Complete BR-EDR Transport Block Data
291	Observation Schedule	Valid Range and Accuracy
"""#)
    }
}
