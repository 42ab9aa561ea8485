/// A method call from the bus.
package struct BusCall: Sendable {
  /// Identifies the call for `Bus.reply`.
  package let number: UInt64
  /// The unique name of the caller, ":1.42".
  package let sender: String
  package let path: String
  /// Nil if the caller left it out.
  package let interface: String?
  package let member: String
  package let arguments: [BusValue]

  package init(
    number: UInt64, sender: String, path: String, interface: String?, member: String, arguments: [BusValue] = []
  ) {
    self.number = number
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }

  /// The signature of the arguments.
  package var signature: String { arguments.map(\.type).joined() }
}

/// A signal from the bus.
package struct BusSignal: Sendable {
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: [BusValue]

  package init(sender: String, path: String, interface: String, member: String, arguments: [BusValue]) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}

/// The message bus, as the facade uses it. All of it belongs to one thread.
package protocol Bus: AnyObject {
  /// Answers a call. Each call is answered once.
  func reply(_ call: BusCall, _ values: [BusValue])
  func fail(_ call: BusCall, _ error: BusError)
  /// Sends a signal.
  /// - Parameter destination: the unique name of the only receiver; nil sends it to all.
  func signal(
    _ path: String, _ interface: String, _ member: String, _ values: [BusValue], to destination: String?)
  /// Sets whether the signals of a program are received; initially they are not.
  func watch(_ client: String, _ isOn: Bool)
  /// Calls a method of another program.
  /// - Parameters:
  ///   - timeout: the time after which the completion is called with `org.freedesktop.DBus.Error.NoReply`.
  ///   - completion: called once, later; never after the end of the bus.
  func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [BusValue],
    timeout: Duration, completion: @escaping (Result<[BusValue], BusError>) -> Void)
}
