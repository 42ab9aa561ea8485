/// A part of the facade at which programs register objects of their own.
protocol Registry: AnyObject {
  /// Called when a program has one registration less: its signals may not be wanted.
  var finished: (BusClient) -> Void { get set }
  /// Whether something of a program is registered.
  func has(_ client: BusClient) -> Bool
  /// A program has sent a signal.
  func signalled(_ signal: BusSignal, _ client: BusClient)
  /// A program has left the bus.
  func left(_ client: BusClient)
  /// An adapter has gone, with the objects registered at its path.
  func lost(_ adapter: String)
}
