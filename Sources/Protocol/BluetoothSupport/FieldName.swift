/// Any field of a JSON object, or the position of an element in a list.
package struct FieldName: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(_ name: String) { self.init(stringValue: name) }
    package init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    package init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
