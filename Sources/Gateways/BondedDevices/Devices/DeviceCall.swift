import BledRPC
import Bluetooth

/// A call of bled about a bonded device.
package enum DeviceRequest: Hashable {
  case connect
  case disconnect
  /// The protection of the link.
  case parameters
  case discover
  case read(UInt16)
  case subscribe(UInt16)
  case write(UInt16, [UInt8], response: Bool)
  /// Requests a connection interval, in seconds.
  case setInterval(ClosedRange<Double>)
}

/// A call of a machine for a bonded device: a request, and the purpose of it where the answer depends on that.
package protocol DeviceCall: Hashable, Sendable {
  static var connect: Self { get }
  static var disconnect: Self { get }
  static var parameters: Self { get }
  static var discover: Self { get }
  var request: DeviceRequest { get }
}

extension DeviceRequest: DeviceCall {
  package var request: DeviceRequest { self }
}

/// The result of a call that succeeded.
package enum DeviceAnswer: Sendable {
  case done
  /// The address of the adapter that has the link.
  case connected(adapter: String)
  /// The level of the link; nil without encryption.
  case parameters(SecurityLevel?)
  case services([ServiceDescription])
  case value([UInt8], isWhole: Bool)
}
