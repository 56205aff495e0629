extension Unicode.Scalar {
    /// Whether a terminal shows the character itself.
    ///
    /// Control and formatting characters (such as a change of direction), line breaks and private-use characters are
    /// not printable.
    package var isPrintable: Bool {
        if isASCII { return (0x20..<0x7F).contains(value) }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: false
        default: true
        }
    }
}
