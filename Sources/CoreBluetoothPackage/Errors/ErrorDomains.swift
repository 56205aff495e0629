// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of ``CBError``.
///
/// Source: Apple, CBErrorDomain.
public let CBErrorDomain = "CBErrorDomain"

/// The domain of ``CBATTError``.
///
/// Source: Apple, CBATTErrorDomain.
public let CBATTErrorDomain = "CBATTErrorDomain"
