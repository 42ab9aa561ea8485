import BledConnection

/// A descriptor that the daemon passed. It is closed with its last reference, unless it was taken.
public typealias ReceivedDescriptor = BledConnection.ReceivedDescriptor
