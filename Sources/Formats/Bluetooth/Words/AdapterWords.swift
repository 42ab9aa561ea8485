/// An adapter's state, without the reason for a problem.
public enum AdapterCondition: String, Vocabulary {
  /// There is no such controller at present.
  case absent
  /// The controller is present, without power.
  case off
  /// The adapter is being brought into use.
  case starting
  /// The adapter works.
  case on
  /// The system went to sleep while the adapter worked, and the adapter will work again.
  case suspended
  /// The adapter cannot be used; it is retried automatically.
  case failed
}

/// The kinds of problem that make an adapter unusable.
public enum AdapterProblemKind: String, Vocabulary {
  /// The daemon lacks a capability.
  case permission
  /// Another program holds the adapter.
  case inUse
  /// Blocked by rfkill.
  case blocked
  /// The kernel has no Bluetooth.
  case unsupported
  /// The controller does not answer or answers nonsense.
  case hardware
}

/// An adapter's activities beside its links.
public enum AdapterActivity: String, Vocabulary {
  /// Looking for a device to connect to it.
  case connecting
  /// Sending advertisements.
  case advertising
  /// Listening for advertisements.
  case scanning
}

/// The reason why an advertisement has ended by itself.
public enum AdvertisingEnd: String, Vocabulary {
  /// Its time is over.
  case duration
  /// The set was sent as often as requested.
  case count
  /// The target device has connected.
  case connected
}
