@_exported import Dispatch
@_exported import Foundation

// Names that Foundation and Dispatch have on Apple's systems alone.

// swift-format-ignore: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized
/// The older name of a queue.
public typealias dispatch_queue_t = DispatchQueue

/// A span of time in seconds.
public typealias CFTimeInterval = Double

/// Seconds since 2001-01-01 00:00 UTC.
public typealias CFAbsoluteTime = Double

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The time now, in seconds since 2001-01-01 00:00 UTC.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  Date.timeIntervalSinceReferenceDate
}
