import Adapter

/// The learned quirks as they are stored.
struct QuirkRecords: Codable, Sendable {
  struct Model: Codable, Sendable {
    var modalias: String?
    var company: UInt16?
    var hciRevision: UInt16?
    var revision: UInt16?
    var quirks: [Entry]
  }

  struct Entry: Codable, Sendable {
    /// The quirk's name.
    var quirk: String
    /// When it was learned, in seconds since the epoch.
    var learned: Double
  }

  /// The age in seconds at which a learned quirk of a controller or a device is forgotten: it may have had another
  /// cause, or be over.
  static let longestAge = 30.0 * 24 * 60 * 60

  var models: [Model]

  init(_ table: QuirkTable) {
    models = table.learned.filter(\.key.isNamed).map { model, entries in
      Model(
        modalias: model.modalias.isEmpty ? nil : model.modalias, company: model.company,
        hciRevision: model.hciRevision, revision: model.revision,
        quirks: entries.compactMap { entry in
          entry.learned.map { Entry(quirk: entry.quirk.name, learned: $0) }
        })
    }
  }

  /// The table with the valid ones; names of other releases and quirks that were learned more than 30 days ago are left
  /// out.
  /// - Parameter time: the time of day, in seconds since the epoch.
  func table(at time: Double) -> QuirkTable {
    var table = QuirkTable()
    for record in models.prefix(QuirkTable.maximumModels) {
      let model = QuirkTable.Model(
        modalias: record.modalias ?? "", company: record.company, hciRevision: record.hciRevision,
        revision: record.revision)
      guard model.isNamed else { continue }
      for entry in record.quirks.prefix(64) where time - entry.learned <= Self.longestAge {
        if let quirk = Quirk(name: entry.quirk) { table.learn(quirk, of: model, at: entry.learned) }
      }
    }
    return table
  }
}
