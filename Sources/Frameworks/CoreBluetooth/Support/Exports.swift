@_exported import Dispatch
@_exported import Foundation

// Names that Foundation and Dispatch have on Apple's systems alone.

// swift-format-ignore: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized
/// The older name for a queue.
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

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Nanoseconds in a second.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Nanoseconds in a millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Nanoseconds in a microsecond.
public let NSEC_PER_USEC: UInt64 = 1000
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Microseconds in a second.
public let USEC_PER_SEC: UInt64 = 1_000_000
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Milliseconds in a second.
public let MSEC_PER_SEC: UInt64 = 1000

// On Apple's systems every object may be an argument of `String(format: "%@", …)` and `NSLog`; Foundation on Linux has
// that from Swift 6.4 on. Before that it accepts only its own objects: here the description's text.
#if compiler(<6.4)
  /// An object for the format `%@`.
  public protocol CBFormatArgument: _CVarArgObject, CustomStringConvertible {}

  // swift-format-ignore: NoLeadingUnderscores
  extension CBFormatArgument {
    /// The description's text; the caller retains it while formatting.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }

    /// The text's own; used only where the caller does not retain the text.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
  }

  extension CBManager: CBFormatArgument {}
  extension CBPeer: CBFormatArgument {}
  extension CBAttribute: CBFormatArgument {}
  extension CBUUID: CBFormatArgument {}
  extension CBATTRequest: CBFormatArgument {}
  extension CBL2CAPChannel: CBFormatArgument {}
#endif
