/// The state of a gateway for `bleshell doctor`.
package enum DeviceCondition: Hashable {
  case ok(String)
  case problem(String)
}

/// A gateway as its process sees it.
package protocol DeviceService: AnyObject {
  /// Something that belongs in the log.
  var say: (String) -> Void { get set }
  /// The state has changed.
  var whenChanged: (DeviceCondition) -> Void { get set }
  func start()
  /// Ends the devices of the other system, and the session.
  func close()
}
