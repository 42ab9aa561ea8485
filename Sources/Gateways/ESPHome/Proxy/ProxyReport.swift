/// The state of a proxy for its report, which has one line for two connections: to bled and to Home Assistant.
package struct ProxyReport {
  package struct Line: Hashable, Sendable {
    package let isProblem: Bool
    package let text: String

    package init(isProblem: Bool, _ text: String) {
      self.isProblem = isProblem
      self.text = text
    }
  }

  /// The state of bled and its adapter; nil until it is known.
  package var bled: Line?
  /// The state of the connection that the proxy opens to Home Assistant; nil if there has been none.
  package var homeAssistant: Line?

  package init() {}

  /// The worse state: a problem of bled affects all clients. Of two good ones, that of Home Assistant.
  package var line: Line? {
    if let bled, bled.isProblem { bled } else { homeAssistant ?? bled }
  }
}
