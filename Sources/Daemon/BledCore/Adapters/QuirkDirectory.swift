import Adapter

/// The owner of the table of quirks, which keeps the learned ones in the store. Without that file nothing is learned.
final class QuirkDirectory: QuirkKeeper {
  var quirks = QuirkTable() {
    didSet { if quirks != oldValue { document?.changed() } }
  }
  private var document: StoredDocument<QuirkRecords>?

  /// - Parameter time: the time of day, in seconds since the epoch.
  init(store: Store, at time: Double) {
    let document = store.document("quirks", version: 1) { [unowned self] in QuirkRecords(quirks) }
    quirks = document.load()?.table(at: time) ?? QuirkTable()
    self.document = document
  }
}
