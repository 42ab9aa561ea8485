@_exported import Dispatch
@_exported import Foundation

/// Seconds since 2001-01-01 00:00 UTC; Foundation on Linux has no name for it.
public typealias CFAbsoluteTime = Double

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The time now, in seconds since 2001-01-01 00:00 UTC.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  Date.timeIntervalSinceReferenceDate
}
