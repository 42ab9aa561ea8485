import Adapter
import Bluetooth

/// The parameters that a device gets on a link on which we are central when it asks for others (Core 5.4, Vol 3, Part
/// A, 4.20; Vol 6, Part B, 5.1.7).
///
/// | Programs want | The device asks for                         | It gets                                          |
/// |---------------|---------------------------------------------|--------------------------------------------------|
/// | nothing       | that it listens often enough                | that                                             |
/// | nothing       | intervals some of which are short enough    | those                                            |
/// | nothing       | longer intervals alone                      | a refusal                                        |
/// | parameters    | intervals some of which are wanted          | those, with the latency and the timeout that are wanted |
/// | parameters    | any other; or a subrate is wanted           | a refusal                                        |
///
/// So a link that has the parameters that programs want keeps them, and is not changed there and back.
package struct ParameterPolicy: Hashable, Sendable {
  /// The longest time between two events at which a device listens, its latency included; nil: any.
  package var longestInterval: Duration?
  /// The parameters that programs want; nil for none.
  package var wish: ConnectionParameters?

  package init(longestInterval: Duration? = nil, wish: ConnectionParameters? = nil) {
    (self.longestInterval, self.wish) = (longestInterval, wish)
  }

  /// The parameters that the device gets.
  /// - Returns: nil if it is refused.
  package func granted(_ asked: ParameterUpdate) -> ParameterUpdate? {
    if let wish { return asked.limited(to: wish) }
    return longestInterval.map(asked.limited) ?? asked
  }
}
