#if canImport(Glibc)
  import Glibc
#endif

/// Compares octets at once: libFuzzer would trace each one of `==`, which takes longer than all the rest.
func areEqual<Octets: Collection<UInt8>>(_ left: Octets, _ right: Octets) -> Bool {
  let isEqual = left.withContiguousStorageIfAvailable { left in
    right.withContiguousStorageIfAvailable { right in
      guard let one = left.baseAddress, let other = right.baseAddress, left.count == right.count else {
        return left.count == right.count
      }
      return memcmp(one, other, left.count) == 0
    }
  }
  return isEqual == .some(.some(true))
}
