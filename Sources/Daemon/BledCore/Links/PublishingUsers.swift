/// The users publishing services or advertising: devices that connect concern them.
protocol PublishingUsers: AnyObject {
  /// - Returns: the users, each once, in a fixed order.
  func users(on slot: AdapterSlot) -> [UInt32?]
}

/// Notified when users begin or cease to publish services or to advertise.
protocol PublishersObserver: AnyObject {
  func publishersChanged()
}
