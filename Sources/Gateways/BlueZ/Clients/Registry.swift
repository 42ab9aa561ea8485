/// A part of the facade at which programs register objects of their own.
protocol Registry: AnyObject {
  /// Called after the end of a program's registration: its signals may not be needed.
  var finished: (BusClient) -> Void { get set }
  /// True if a program has a registration.
  func has(_ client: BusClient) -> Bool
  /// A program has sent a signal.
  func signalled(_ signal: BusSignal, _ client: BusClient)
  /// A program has left the bus.
  func left(_ client: BusClient)
  /// An adapter was removed, with the objects registered at its path.
  func lost(_ adapter: String)
}
