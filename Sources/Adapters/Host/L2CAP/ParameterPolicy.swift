import Adapter
import Bluetooth

/// The parameters granted to a device that requests others, on a link with us as central (Core 5.4, Vol 3, Part A,
/// 4.20; Vol 6, Part B, 5.1.7).
///
/// | Programs want | The device asks for                         | It gets                                          |
/// |---------------|---------------------------------------------|--------------------------------------------------|
/// | nothing       | that it listens often enough                | that                                             |
/// | nothing       | intervals some of which are short enough    | those                                            |
/// | nothing       | longer intervals alone                      | a refusal                                        |
/// | parameters    | intervals some of which are wanted          | those, with the latency and the timeout that are wanted |
/// | parameters    | any other; or a subrate is wanted           | a refusal                                        |
///
/// So a link with the programs' parameters keeps them, and is not changed back and forth.
package struct ParameterPolicy: Hashable, Sendable {
  /// Maximum time between two events at which a device listens, latency included; nil: any.
  package var longestInterval: Duration?
  /// The parameters requested by programs; nil for none.
  package var wish: ConnectionParameters?

  package init(longestInterval: Duration? = nil, wish: ConnectionParameters? = nil) {
    (self.longestInterval, self.wish) = (longestInterval, wish)
  }

  /// The parameters for the device.
  /// - Returns: nil if it is refused.
  package func granted(_ asked: ParameterUpdate) -> ParameterUpdate? {
    if let wish { return asked.limited(to: wish) }
    return longestInterval.map(asked.limited) ?? asked
  }
}
