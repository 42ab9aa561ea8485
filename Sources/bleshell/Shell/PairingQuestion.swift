import BledRPC

/// What has to be known of a device that pairs. It is asked in the last line of a screen.
struct PairingQuestion {
  enum Kind: Equatable {
    /// y or n.
    case consent
    /// Digits that the device shows.
    case passkey
  }

  /// Of this screen.
  let number: Int
  let kind: Kind
  let text: String
  private(set) var typed = LineBuffer()

  init(number: Int, kind: Kind, text: String) { (self.number, self.kind, self.text) = (number, kind, text) }

  /// Takes a key.
  /// - Returns: nil while there is no answer. The answer: "yes", or what was typed; nil in it: a refusal.
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
    // A cursor of its own: that of the terminal is hidden.
    case .passkey: LineView(prompt: text, line: typed.text + ["_"], cursor: typed.cursor, width: columns).text
    }
  }
}

extension PairingQuestion {
  init(_ number: Int, _ asked: PairingConfirm.Params) {
    let name = asked.device.shownName
    self.init(
      number: number, kind: .consent, text: asked.number.map { "does \(name) show \($0)?" } ?? "pair with \(name)?")
  }

  init(_ number: Int, _ asked: PairingEnterPasskey.Params) {
    self.init(number: number, kind: .passkey, text: "the passkey that \(asked.device.shownName) shows: ")
  }
}

extension PairingDevice {
  /// What people call it, fit for a terminal.
  var shownName: String { Output.clean(name ?? address) }
}
