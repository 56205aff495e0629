/// Names of types, for errors.
enum TypeName {
    /// `HeartRateMeasurement` as "Heart Rate Measurement".
    static func words(of type: Any.Type) -> String {
        var result = ""
        var previous: Character?
        let name = Array(String(describing: type))
        for (index, character) in name.enumerated() {
            let isBeforeLower = index + 1 < name.count && name[index + 1].isLowercase
            if let previous, character.isUppercase, previous.isLowercase || isBeforeLower { result.append(" ") }
            result.append(character)
            previous = character
        }
        return result
    }
}
