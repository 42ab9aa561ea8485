/// The one table of the quirks of controllers: known ones, and learned ones that the use of a controller showed.
///
/// | Input                                    | Outcome                                                              |
/// |------------------------------------------|----------------------------------------------------------------------|
/// | `entries(of:)` a model                   | its known quirks, then its learned ones, the oldest first            |
/// | `learn`                                  | kept for that model, with the date of the first time                 |
/// | `learn` beyond the limit of models       | the model whose last lesson is oldest is forgotten                   |
/// | `forget`                                 | a quirk that was wrong is learned no longer                          |
///
/// A learned quirk holds for one revision: a controller with other firmware is another model.
public struct QuirkTable: Hashable, Sendable {
  /// A make of controller.
  public struct Model: Hashable, Sendable {
    /// The name for drivers, as sysfs has it: "usb:v10D7pB012d8891…"; empty where the system has none.
    public var modalias: String
    /// The company identifier of the maker; nil if the controller did not say.
    public var company: UInt16?
    /// The revision of HCI; nil if the controller did not say.
    public var hciRevision: UInt16?
    /// The revision of the link layer, LMP subversion (Core 5.4, Vol 4, Part E, 7.4.1); nil if it did not say.
    public var revision: UInt16?

    /// Names a make; the modalias is cut at 256 octets.
    public init(
      modalias: String = "", company: UInt16? = nil, hciRevision: UInt16? = nil, revision: UInt16? = nil
    ) {
      self.modalias = String(decoding: modalias.utf8.prefix(256).filter { 0x20 < $0 && $0 < 0x7F }, as: UTF8.self)
      self.company = company
      self.hciRevision = hciRevision
      self.revision = revision
    }

    /// True if it names a make: learned quirks of a nameless controller are neither shared nor stored.
    public var isNamed: Bool { !modalias.isEmpty || company != nil }
  }

  /// A quirk of a model.
  public struct Entry: Hashable, Sendable {
    /// The quirk.
    public var quirk: Quirk
    /// The fault and its consequence, for people.
    public var reason: String
    /// When it was learned, in seconds since the epoch; nil for a known one.
    public var learned: Double?

    /// Makes an entry of something learned.
    public init(_ quirk: Quirk, learned: Double) {
      self.init(quirk, quirk.words, learned: learned)
    }

    fileprivate init(_ quirk: Quirk, _ reason: String, learned: Double? = nil) {
      (self.quirk, self.reason, self.learned) = (quirk, reason, learned)
    }
  }

  /// A line of known quirks: of all models whose names begin so, or of a company.
  private struct Known {
    var modalias = ""
    var company: UInt16?
    let makes: String
    let quirks: [Quirk]

    func fits(_ model: Model) -> Bool {
      company.map { $0 == model.company } ?? model.modalias.utf8.starts(with: modalias.utf8)
    }
  }

  private static let known = [
    // The kernel has quirks for these two; it does not name the controllers.
    Known(modalias: "usb:v10D7pB012", makes: "Actions ATS2851", quirks: [.extendedScanning, .extendedConnecting]),
    Known(modalias: "pci:v000014E4d00005FA0", makes: "Apple BCM4377", quirks: [.extendedScanning]),
    Known(company: 0x0059, makes: "Nordic Semiconductor", quirks: [.staticAddresses, .flowControl]),
    Known(company: 0x05F1, makes: "Zephyr", quirks: [.staticAddresses, .flowControl]),
  ]

  /// Maximum models with learned quirks.
  public static let maximumModels = 64

  /// The learned quirks and their times, the oldest first.
  public private(set) var learned: [Model: [Entry]] = [:]

  /// A table of the known quirks.
  public init() {}

  /// The quirks of a model.
  public func entries(of model: Model) -> [Entry] {
    let known = Self.known.filter { $0.fits(model) }.flatMap { line in
      line.quirks.map { Entry($0, "\(line.makes): \($0.words)") }
    }
    let quirks = known.map(\.quirk)
    return known + (learned[model] ?? []).filter { !quirks.contains($0.quirk) }
  }

  /// The same without reasons.
  public func quirks(of model: Model) -> Set<Quirk> { Set(entries(of: model).map(\.quirk)) }

  /// A controller of this model showed a quirk.
  /// - Parameter time: in seconds since the epoch.
  /// - Returns: true if that is new.
  @discardableResult
  public mutating func learn(_ quirk: Quirk, of model: Model, at time: Double) -> Bool {
    guard Quirk.learnable.contains(quirk), time.isFinite, !quirks(of: model).contains(quirk) else { return false }
    learned[model, default: []].append(Entry(quirk, learned: time))
    if learned.count > Self.maximumModels {
      let others = learned.filter { $0.key != model }
      let oldest = others.min { latest($0.value) < latest($1.value) }
      if let oldest { learned[oldest.key] = nil }
    }
    return true
  }

  /// A learned quirk was wrong, or is over.
  /// - Returns: true if it was there.
  @discardableResult
  public mutating func forget(_ quirk: Quirk, of model: Model) -> Bool {
    guard let entries = learned[model], entries.contains(where: { $0.quirk == quirk }) else { return false }
    let rest = entries.filter { $0.quirk != quirk }
    learned[model] = rest.isEmpty ? nil : rest
    return true
  }

  private func latest(_ entries: [Entry]) -> Double { entries.compactMap(\.learned).max() ?? 0 }
}

/// The owner of the table that all adapters share.
public protocol QuirkKeeper: AnyObject {
  /// The table. Adapters change it as they learn.
  var quirks: QuirkTable { get set }
}
