import Synchronization

extension LinkID {
  private static let last = Atomic<UInt32>(0)

  /// A number unique among this process's links, on any adapter.
  public static func next() -> LinkID { LinkID(last.wrappingAdd(1, ordering: .relaxed).newValue) }
}
