#if !canImport(Darwin)
/// Seconds since 2001-01-01 00:00 UTC, as in `Date.timeIntervalSinceReferenceDate`.
///
/// Foundation declares this name on Apple's platforms only. Source: Apple, CFAbsoluteTime.
public typealias CFAbsoluteTime = Double
#endif
