import Synchronization

extension LinkID {
  private static let last = Atomic<UInt32>(0)

  /// A number that no other link of this process has had, on any adapter.
  public static func next() -> LinkID { LinkID(last.wrappingAdd(1, ordering: .relaxed).newValue) }
}
