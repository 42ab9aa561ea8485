import Adapter
import Bluetooth

extension LinkPHY {
  /// The clients' words for each of them.
  static let words: [(word: String, phy: LinkPHY)] = [
    ("1M", LinkPHY(.le1M)), ("2M", LinkPHY(.le2M)), ("coded", LinkPHY(.leCoded)),
    ("codedS2", LinkPHY(.leCoded, coding: .s2)), ("codedS8", LinkPHY(.leCoded, coding: .s8)),
  ]

  /// Reads the word of a client.
  /// - Throws: `BledError.invalidParameter` for any other.
  init(word: String) throws(BluetoothError) {
    guard let known = Self.words.first(where: { $0.word.hasSameOctets(as: word) }) else {
      let all = Self.words.map(\.word).joined(separator: ", ")
      throw BledError.invalidParameter.error("\"\(word.excerpt)\" is not a PHY: give one of \(all)")
    }
    self = known.phy
  }
}

extension Set<PHY> {
  /// Reads the words of a client for the PHYs to listen on; LE 1M if there are none.
  /// - Throws: `BledError.invalidParameter` for others than "1M" and "coded", and for an empty list.
  init(listeningOn words: [String]?) throws(BluetoothError) {
    self = []
    for word in words ?? [PHY.le1M.word] {
      guard let phy = [PHY.le1M, .leCoded].first(where: { $0.word.hasSameOctets(as: word) }) else {
        throw BledError.invalidParameter.error(
          "\"\(word.excerpt)\" is not a primary advertising PHY: give \"1M\", \"coded\" or both")
      }
      insert(phy)
    }
    guard !isEmpty else { throw BledError.invalidParameter.error("\"phys\" must list \"1M\", \"coded\" or both") }
  }
}

extension AdapterSlot {
  /// Checks whether the controller has a PHY, as far as that is known.
  func check(has phy: PHY) throws(BluetoothError) {
    guard adapter.state == .on, !adapter.information.phys.contains(phy) else { return }
    throw GAPError.notSupported.error("the controller of adapter \(id) does not have the \(phy.word) PHY")
  }
}
