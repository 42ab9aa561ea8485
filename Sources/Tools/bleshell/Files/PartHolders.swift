import NearbySessions

/// The transfers that write parts of files, by the hash of the file: each part has one writer.
actor PartHolders {
  private var holders: [[UInt8]: NearbyConnection] = [:]
  private var waiters: [[UInt8]: [CheckedContinuation<Void, Never>]] = [:]

  /// Begins to write a part. A former writer with a lost link gives way: the file continues from another sender, or
  /// from the same one after its restart.
  /// - Returns: false if another sender is sending the same file.
  func take(_ hash: [UInt8], for peer: NearbyConnection) async -> Bool {
    while let former = holders[hash] {
      guard await !former.hasLink else { return false }
      await former.disconnect()
      guard holders[hash] === former else { continue }
      await withCheckedContinuation { waiters[hash, default: []].append($0) }
    }
    holders[hash] = peer
    return true
  }

  /// The part is closed.
  func release(_ hash: [UInt8]) {
    holders[hash] = nil
    for waiter in waiters.removeValue(forKey: hash) ?? [] { waiter.resume() }
  }
}
