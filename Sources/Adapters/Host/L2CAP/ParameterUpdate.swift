import Adapter
import HCI

/// The parameters in a peripheral's request (Core 5.4, Vol 3, Part A, 4.20).
package struct ParameterUpdate: Hashable, Sendable {
  /// In 1.25 ms.
  package private(set) var intervalMin: UInt16
  /// In 1.25 ms.
  package private(set) var intervalMax: UInt16
  /// Events the peripheral may skip.
  package private(set) var latency: UInt16
  /// In 10 ms.
  package private(set) var timeout: UInt16

  /// Converts the wanted parameters.
  package init(_ wanted: ConnectionParameters) {
    intervalMin = TimeUnits.connection(wanted.interval.lowerBound)
    intervalMax = TimeUnits.connection(wanted.interval.upperBound)
    latency = UInt16(clamping: wanted.latency)
    timeout = TimeUnits.supervision(wanted.supervisionTimeout)
  }

  /// Reads a request's data.
  /// - Returns: nil if the specification does not allow them.
  package init?(_ words: [UInt16]) {
    guard words.count == 4 else { return nil }
    (intervalMin, intervalMax, latency, timeout) = (words[0], words[1], words[2], words[3])
    guard 6...3200 ~= intervalMin, 6...3200 ~= intervalMax, intervalMin <= intervalMax, latency <= 499,
      10...3200 ~= timeout, Int(timeout) * 4 > (Int(latency) + 1) * Int(intervalMax)
    else { return nil }
  }

  /// The request as far as granted: with a shorter maximum interval, so that the device listens often enough, latency
  /// included.
  /// - Parameter longest: maximum time between two events at which it listens.
  /// - Returns: nil if it asks for longer intervals only.
  package func limited(to longest: Duration) -> ParameterUpdate? {
    let total = longest / .microseconds(1250)
    let units = total / Double(latency + 1)
    guard units >= Double(intervalMin) else { return nil }
    var limited = self
    if units < Double(intervalMax) { limited.intervalMax = UInt16(units) }
    return limited
  }

  /// The request as far as it agrees with other parameters, whose latency and timeout it adopts.
  /// - Returns: nil if they have no interval in common, or another interval would end a subrate (Core 5.4, Vol 6, Part
  ///   B, 5.1.19).
  func limited(to wish: ConnectionParameters) -> ParameterUpdate? {
    guard wish.subrate.upperBound == 1 else { return nil }
    var wanted = ParameterUpdate(wish)
    // An interval below 7.5 ms is no multiple of the unit.
    guard !wish.isShort else { return nil }
    (wanted.intervalMin, wanted.intervalMax) = (
      max(intervalMin, wanted.intervalMin), min(intervalMax, wanted.intervalMax)
    )
    return wanted.intervalMin <= wanted.intervalMax ? wanted : nil
  }

  var words: [UInt16] { [intervalMin, intervalMax, latency, timeout] }

  /// The update as connection parameters.
  package var parameters: ConnectionParameters {
    ConnectionParameters(
      interval: TimeUnits.connectionUnits(intervalMin)...TimeUnits.connectionUnits(intervalMax), latency: Int(latency),
      supervisionTimeout: TimeUnits.supervisionUnits(timeout))
  }
}
