import BledRPC

/// A question about a device that pairs: asked in the last line of a screen, or on a line of its own.
struct PairingQuestion {
  enum Kind: Equatable {
    /// y or n.
    case consent
    /// Digits that the device shows.
    case passkey
  }

  let kind: Kind
  let text: String
  private(set) var typed = LineBuffer()

  private init(kind: Kind, text: String) { (self.kind, self.text) = (kind, text) }

  /// Handles a key.
  /// - Returns: nil while there is no answer. The answer: "yes", or the typed text; an inner nil is a refusal.
  mutating func handle(_ key: Key) -> String?? {
    switch (kind, key) {
    case (_, .escape), (_, .control("c")): return .some(nil)
    case (.consent, .character("y")): return "yes"
    case (.consent, .character("n")): return .some(nil)
    case (.consent, _): return nil
    case (.passkey, _):
      switch typed.handle(key) {
      case .entered(let text): return .some(text.isEmpty ? nil : text)
      case .discarded, .ended: return .some(nil)
      default: return nil
      }
    }
  }

  /// The last line of a screen of this width.
  func line(_ columns: Int) -> String {
    switch kind {
    case .consent: "\(text) y or n"
    // Draws its own cursor: the terminal's is hidden.
    case .passkey: LineView(prompt: text, line: typed.text + ["_"], cursor: typed.cursor, width: columns).text
    }
  }
}

extension PairingQuestion {
  init(_ asked: PairingConfirm.Params) {
    let name = asked.device.quotedName
    self.init(kind: .consent, text: asked.number.map { "does \(name) show \($0)?" } ?? "pair with \(name)?")
  }

  init(_ asked: PairingEnterPasskey.Params) {
    self.init(kind: .passkey, text: "the passkey that \(asked.device.quotedName) shows: ")
  }
}

extension PairingDevice {
  /// The name of the device, fit for a terminal.
  var shownName: String { Output.clean(name ?? address) }

  /// Its name, for a line with a code: a name could contain another one.
  var quotedName: String { name.map(Output.quoted) ?? Output.clean(address) }
}
