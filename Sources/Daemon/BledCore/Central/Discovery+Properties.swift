import Bluetooth
import GATT

extension Discovery {
  /// Refuses operations that a characteristic's properties do not allow. For undiscovered handles the device decides.
  /// - Parameter force: true: nothing is refused.
  /// - Returns: the allowed operations; nil if unknown.
  @discardableResult
  func check(
    _ property: CharacteristicProperties, of handle: UInt16, _ verb: String, force: Bool? = nil
  ) throws -> CharacteristicProperties? {
    guard let properties = known.properties(of: handle) else { return nil }
    guard properties.contains(property) || force == true else {
      let words = properties.words.map(\.text).joined(separator: ", ")
      throw BledError.notAllowedByProperties.error(
        "characteristic \(handle.handleText) cannot be \(verb); it allows: \(words)")
    }
    return properties
  }

  /// True for a descriptor that holds the configuration of a characteristic.
  func isConfiguration(_ handle: UInt16) -> Bool { known.isConfiguration(handle) }
}
